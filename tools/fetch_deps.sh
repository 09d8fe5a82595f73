#!/bin/sh
# Unpacks what the build needs into a folder, for a machine that cannot install packages: Debian's
# packages of this computer's release, libraries and headers only. Argument: the folder (.deps).
# A machine with the same or a newer glibc can use them; tools/gpu_check.sh does.
set -eu
deps=${1:-.deps}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"

packages="libopenblas0-pthread libgfortran5 libquadmath0
  libcjson1 libcjson-dev
  libcmocka0 libcmocka-dev
  pkgconf pkgconf-bin libpkgconf3"

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
rm -rf "$deps/usr/share" "${deps:?}/etc" "$libraries/cmake"
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
