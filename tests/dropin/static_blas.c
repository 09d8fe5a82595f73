/* A program with a BLAS of its own inside: what a statically linked one looks like from outside. */
void dgemm_(void);
void dgemm_(void) {}

int main(void) {
  dgemm_();
  return 0;
}
