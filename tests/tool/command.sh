# What the tests of the command share, alone and across processes; sourced. TESSERA_BIN: the command
# itself, in place of the build's.
given=${TESSERA_BIN:-}
case $given in
  /* | '') ;;
  *) given=$(pwd)/$given ;;
esac
. "$(dirname "$0")/../cases.sh"
tessera=${given:-$tessera}
digits=$root/examples/data/digits.npy # 1797 x 64, C-ordered

# Runs the command; leaves $code, out and err.
run() {
  "$tessera" "$@" >out 2>err
  code=$?
}

exits() { [ "$code" -eq "$1" ]; }
says() { grep -q -e "$1" out; }
warns() { grep -q -e "$1" err; }
quiet() { [ ! -s err ]; }
exits_and_says() { exits "$1" && says "$2"; }
exits_and_warns() { exits "$1" && warns "$2" && ! warns 'Sanitizer'; }

# npy NAME DESCR FORTRAN ROWS COLS: a file of version 1.0 with the data from its standard input.
npy() {
  {
    printf '\223NUMPY\001\000\166\000'
    printf '%-117s\n' "{'descr': '$2', 'fortran_order': $3, 'shape': ($4, $5), }"
    cat
  } >"$1"
}
data_of() { tail -c +129 "$1"; }
