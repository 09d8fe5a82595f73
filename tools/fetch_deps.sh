#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# Unpacks what the build needs into a folder, for a machine that cannot install packages: Debian's
# packages of this computer's release, libraries and headers only. Argument: the folder (.deps).
# A machine with the same or a newer glibc can use them; tools/gpu_check.sh and bench/pgemm_gpu.sh do.
# Of Open MPI there is what runs programs on one machine, not what builds them.
set -eu
deps=${1:-.deps}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"

packages="libopenblas0-pthread libgfortran5 libquadmath0
  libcjson1 libcjson-dev
  libcmocka0 libcmocka-dev
  libamdhip64-dev
  pkgconf pkgconf-bin libpkgconf3
  libblas3 libblas-test
  openmpi-bin openmpi-common libopenmpi3 libpmix2 libmunge2 libhwloc15 libhwloc-dev libevent-core-2.1-7
  libevent-pthreads-2.1-7"

(cd "$work" && apt-get download $packages) >"$work/log" 2>&1 || {
  cat "$work/log" >&2
  echo "apt-get download failed; apt-get update may help" >&2
  exit 1
}
rm -rf "$deps"
mkdir -p "$deps"
for package in "$work"/*.deb; do dpkg -x "$package" "$deps"; done

# Debian keeps some libraries in /lib: one place is enough.
libraries=$deps/usr/lib/x86_64-linux-gnu
if [ -d "$deps/lib/x86_64-linux-gnu" ]; then
  cp -a "$deps"/lib/x86_64-linux-gnu/. "$libraries"/
  rm -rf "${deps:?}/lib"
fi
find "$libraries" -name '*.a' -delete
rm -f "$libraries"/openblas-pthread/liblapack* "$libraries"/openblas-pthread/libblas*
# Of Open MPI without networks, other languages and compilers, but with its messages.
find "$libraries" \( -name '*java*' -o -name '*mpifh*' -o -name '*usempi*' -o -name 'liboshmem*' \
  -o -name 'libmpi_cxx*' -o -name '*mca_*ucx*' -o -name '*_ofi*' -o -name 'mca_*psm*' \
  -o -name '*openib*' -o -name '*verbs*' -o -name 'mca_*usnic*' -o -name 'mca_*munge*' \) -delete
mv "$deps/usr/share/openmpi" "$deps/openmpi"
rm -rf "$deps/usr/share" "${deps:?}/etc" "$libraries/cmake"
mkdir "$deps/usr/share"
mv "$deps/openmpi" "$deps/usr/share/"
[ -e "$deps/usr/bin/pkg-config" ] || ln -s pkgconf "$deps/usr/bin/pkg-config"

# The descriptions say where they are, not /usr.
for description in "$libraries"/pkgconfig/*.pc; do
  up='${pcfiledir}/../../..'
  sed -E -e "s#^prefix=.*#prefix=$up#" -e "s#(=|-L|-I)/usr/#\\1$up/#g" \
    "$description" >"$work/pc" && cp "$work/pc" "$description"
done

# Every library finds what it needs here or in a bare system.
missing=$(for library in "$libraries"/*.so* "$libraries"/openblas-pthread/*.so*; do
  LD_LIBRARY_PATH=$libraries ldd "$library" 2>/dev/null | grep 'not found' || true
done | sort -u)
[ -z "$missing" ] || {
  echo "missing: $missing" >&2
  exit 1
}
echo "$deps: $(du -sm "$deps" | cut -f 1) MiB"
