#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# A program with rights that its caller lacks (a set-user-ID program of root's, run by another user)
# takes nothing from the caller's environment: it loads no library, reads no settings and no machine,
# writes no report and keeps no cache where the caller says. The same program without the bit does,
# so that each case shows that it would notice. Needs root. Argument: the build folder.
# Slow: 15 s.
. "$(dirname "$0")/dropin.sh"

if [ "$(id -u)" != 0 ]; then
  skip "privilege" "root here, who alone can make a set-user-ID program of another user's"
  finish
  exit
fi
chmod 755 "$work"
mkdir -m 777 open
mkdir evil
cp "$build/tests/libdropin_evil.so" evil/blas.so
cp "$build/tests/libdropin_evil.so" evil/libtessera_cuda.so.0.2
mkdir evil/lib evil/hwloc
cp "$build/tests/libdropin_evil.so" evil/lib/libamdhip64.so.7
cp "$build/tests/libdropin_evil.so" evil/hwloc/hwloc_evil.so
echo "the secret of root" >secret
echo '{"the secret": "of root"}' >secret.json
cp secret secret.xml
hwloc=
ldconfig -p | grep -q 'libhwloc\.so\.15' && grep -q hwloc_topology_init "$build/lib/libtessera.so" &&
  hwloc=yes

# With nothing but the caller's variables: called USER PROGRAM ITS-NAME WHAT NAME=value...
called() {
  user=$1 program=$2 name=$3 what=$4
  shift 4
  rm -rf open/* open/.[a-z]*
  env -i OPENBLAS_NUM_THREADS=1 "$@" "$build/tests/dropin_privileged" launch "$user" \
    "$work/$program" "$name" "$what" >out 2>err
  code=$?
}
cleanly() { [ "$code" = 0 ] && [ ! -s err ] && grep -q privileged out; }
no() { ! "$@"; }
# What an attack leaves; open/ is where the caller may write.
evil() { grep -q 'evil was loaded' out; }
secret() { grep -q secret out; }
left() { [ -n "$(ls -A open)" ]; }
parsed() { grep -q 'XML' err; } # hwloc tells that it could not read the file

attack() { # CASE TRACE ITS-NAME WHAT NAME=value...
  case=${kind}_$1 trace=$2
  shift 2
  called 0 "plain_$kind" "$@"
  check "${case}_would_work" "$trace"
  for bit in $bits; do
    called 65534 "${bit}_$kind" "$@"
    check "${case}_$bit" cleanly
    check "${case}_${bit}_untouched" no "$trace"
  done
}

# With the library in itself, and with the shared one, which another user may not be able to read.
for kind in whole shared; do
  program=$build/tests/dropin_privileged bits="set_user set_group"
  [ "$kind" = whole ] || program=${program}_shared bits=set_user
  for mode in 755:plain 4755:set_user 2755:set_group; do
    cp "$program" "${mode#*:}_$kind"
    chmod "${mode%:*}" "${mode#*:}_$kind"
  done
  called 65534 set_user_$kind x context
  if ! grep -q privileged out; then
    skip "privilege_$kind" "set-user-ID program to be had (no_new_privs, or mounted with nosuid)"
    continue
  fi
  attack cpu_blas evil x call TESSERA_CPU_BLAS="$work/evil/blas.so"
  attack report left x call TESSERA_REPORT="$work/open/report" TESSERA_OFFLOAD=never
  attack settings secret x context TESSERA_SETTINGS="$work/secret"
  attack machine secret x context TESSERA_MACHINE="$work/secret.json"
  attack cache left x probe XDG_CACHE_HOME="$work/open/cache"
  attack home left x probe HOME="$work/open"
  # hwloc loads plugins from where its variable says, and reads the topology that another names.
  if [ "$hwloc" = yes ]; then
    attack hwloc_plugins evil x context HWLOC_PLUGINS_PATH="$work/evil/hwloc"
    attack hwloc_file parsed x context HWLOC_XMLFILE="$work/secret.xml" HWLOC_XML_VERBOSE=1
  else
    skip "privilege_${kind}_hwloc" "libhwloc.so.15, and a build with it"
  fi
  # The HIP engine is found beside the shared library alone.
  if [ "$kind" = shared ] && [ -e "$build/lib/libtessera_hip.so.0.2" ]; then
    attack rocm evil x hip ROCM_PATH="$work/evil"
  fi
  # The loader calls the file of a program as its caller does.
  [ "$kind" = shared ] || attack engine evil "$work/evil/program" cuda
done
finish
