/* A BLAS that has only the GEMMs, and these do nothing. */
void sgemm_(void);
void dgemm_(void);
void cgemm_(void);
void zgemm_(void);

void sgemm_(void) {}
void dgemm_(void) {}
void cgemm_(void) {}
void zgemm_(void) {}
