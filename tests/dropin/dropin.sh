# What the tests of unmodified programs share; sourced. Counts cases, and reads the report that the
# doors write: programs may succeed without ever having come through us. TSR_TEST_ENGINE: what the
# calls are offloaded to (host).
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
build=${1:-$root/build}
case $build in
  /*) ;;
  *) build=$(pwd)/$build ;;
esac
doors=$build/lib/libtessera_blas.so.0
tessera=$build/bin/tessera
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
skipped=0
engine=${TSR_TEST_ENGINE:-host}
may_skip=${TSR_TEST_SKIPS:-1}
for setting in $(env | sed -n 's/^\(TESSERA_[A-Z_]*\)=.*/\1/p'); do unset "$setting"; done
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
# Threads of the BLAS would only queue up behind the emulated devices.
OPENBLAS_NUM_THREADS=1
OMP_NUM_THREADS=1
export OPENBLAS_NUM_THREADS OMP_NUM_THREADS
cd "$work" || exit 1

# check NAME CONDITION...: runs the condition as a command; what it and the program said is shown
# when it fails.
check() {
  name=$1
  shift
  if "$@" >said 2>&1; then
    echo "ok $name"
    passed=$((passed + 1))
  else
    echo "FAIL $name"
    tail -n 12 said out err report 2>/dev/null | sed 's/^/    /'
    failed=$((failed + 1))
  fi
}

# TSR_TEST_SKIPS=0 (as in CI): nothing may be missing.
skip() { # name, what is missing
  if [ "$may_skip" = 0 ]; then
    echo "FAIL $1: there is no $2"
    failed=$((failed + 1))
  else
    echo "skip $1: there is no $2"
    skipped=$((skipped + 1))
  fi
}

# Runs a program with every call offloaded; leaves $code, out, err and report.
offloaded() { # devices, tile, then the program
  devices=$1 tile=$2
  shift 2
  rm -f report
  "$tessera" run --report-to "$work/report" --engine "$engine" --devices "$devices" \
    --tile "$tile" --offload always -- "$@" >out 2>err </dev/null
  code=$?
}

# The sum over all reports of the calls that went through a plan.
planned() {
  awk '/level-3 BLAS calls:/ { sum += $6 } END { print sum + 0 }' report 2>/dev/null
}

went_through_plans() { # at least so many
  [ "$(planned)" -ge "$1" ]
}

finish() {
  [ "$skipped" = 0 ] || echo "$skipped skipped"
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ]
}
