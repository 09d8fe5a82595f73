/* A BLAS that has its GEMMs and nothing else; they do nothing. */
void sgemm_(void);
void dgemm_(void);
void cgemm_(void);
void zgemm_(void);

void sgemm_(void) {}
void dgemm_(void) {}
void cgemm_(void) {}
void zgemm_(void) {}
