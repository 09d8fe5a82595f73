# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# The input of ScaLAPACK's tester of level 3 of the PBLAS (PxBLAS3TST.dat): 20 products by chance, of
# any blocks, first blocks unlike the others, any offsets and sources, replicated ones among them.
# -v type=s|d|c|z -v seed=N -v rows="2 1" -v cols="1 2" (shapes of grids)

# Park and Miller's: the same with every awk.
function chance(least, most) {
  state = (state * 16807) % 2147483647
  return least + int(state / 2147483647 * (most - least + 1))
}
function line(values, what) { print values "\t" what }
function numbers(least, most, what,   i, values) {
  for (i = 0; i < TESTS; i++) values = values " " chance(least, most)
  line(values, what)
}
function sources(count, what,   i, values) {
  for (i = 0; i < TESTS; i++) values = values " " (chance(1, 3) == 1 ? -1 : chance(0, count - 1))
  line(values, what)
}
function letters(from, what, kept,   i, values, letter) {
  for (i = 0; i < TESTS; i++) {
    letter = substr(from, chance(1, length(from)), 1)
    values = values " '" letter "'"
    kept[i] = letter
  }
  line(values, what)
}
function least_of(list,   n, part, i, least) {
  n = split(list, part, " ")
  least = part[1]
  for (i = 2; i <= n; i++) if (part[i] < least) least = part[i]
  return least
}
function extents(least, what, kept,   i, values) {
  for (i = 0; i < TESTS; i++) values = values " " (kept[i] = chance(least, 40))
  line(values, what)
}
# A matrix around a part of rows x cols; what is written first needs what comes last.
function matrix(name, rows, cols,   i, m, n, at, to) {
  for (i = 0; i < TESTS; i++) {
    at[i] = chance(1, 9)
    to[i] = chance(1, 9)
    m = m " " (rows[i] > 0 ? rows[i] : 1) + at[i] - 1 + chance(0, 5)
    n = n " " (cols[i] > 0 ? cols[i] : 1) + to[i] - 1 + chance(0, 5)
  }
  line(m, "M_" name)
  line(n, "N_" name)
  numbers(1, 12, "IMB_" name)
  numbers(1, 12, "INB_" name)
  numbers(1, 12, "MB_" name)
  numbers(1, 12, "NB_" name)
  sources(least_of(ROWS), "RSRC_" name)
  sources(least_of(COLS), "CSRC_" name)
  m = n = ""
  for (i = 0; i < TESTS; i++) {
    m = m " " at[i]
    n = n " " to[i]
  }
  line(m, "I" name)
  line(n, "J" name)
}
function operand(name, ops, rows, cols,   i, stored_rows, stored_cols) {
  for (i = 0; i < TESTS; i++) {
    stored_rows[i] = ops[i] == "N" ? rows[i] : cols[i]
    stored_cols[i] = ops[i] == "N" ? cols[i] : rows[i]
  }
  matrix(name, stored_rows, stored_cols)
}
BEGIN {
  TESTS = 20
  ROWS = rows
  COLS = cols
  state = seed * 7919 + 17
  complex = type == "c" || type == "z"
  name = "P" toupper(type)
  line("'by chance'", "")
  line("'any machine'", "")
  line("'summary'", "output file")
  line(6, "device out: the terminal")
  line("F", "stop on failures")
  line("F", "test error exits")
  line(0, "verbosity")
  line(10, "leading dimension gap")
  line("16.0", "threshold")
  line(10, "logical block size")
  line(split(ROWS, unused, " "), "grids")
  line(ROWS, "P")
  line(COLS, "Q")
  line(complex ? "(2.0,1.0)" : "2.0", "ALPHA")
  line(complex ? "(3.0,-1.0)" : "3.0", "BETA")
  line(TESTS, "tests")
  letters("N", "DIAG", unused)
  letters("L", "SIDE", unused)
  letters("NTC", "TRANSA", ops_a)
  letters("NTC", "TRANSB", ops_b)
  letters("U", "UPLO", unused)
  extents(1, "M", m)
  extents(1, "N", n)
  extents(0, "K", k)
  operand("A", ops_a, m, k)
  operand("B", ops_b, k, n)
  matrix("C", m, n)
  split(complex ? "GEMM SYMM HEMM SYRK HERK SYR2K HER2K TRMM TRSM GEADD TRADD" \
                : "GEMM SYMM SYRK SYR2K TRMM TRSM GEADD TRADD", routines, " ")
  for (i = 1; i in routines; i++)
    printf "%-7s %s\tput F for no test\n", name routines[i], routines[i] == "GEMM" ? "T" : "F"
}
