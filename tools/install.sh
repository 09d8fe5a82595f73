#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# Installs a build and says how to use it from there. Arguments: the build folder, the prefix.
set -u
build=$1
prefix=$2
cmake --install "$build" --prefix "$prefix" >"$build/install.log" || {
  echo "Not installed. If $prefix cannot be written: sudo make install, or" >&2
  echo "make install PREFIX=\$HOME/tessera, which needs no root." >&2
  exit 1
}
library=$(sed -n 's|^\(.*\)/libtessera\.so\.[0-9.]*$|\1|p' "$build/install_manifest.txt" | head -n 1)
echo "Tessera is in $prefix (files: $build/install_manifest.txt; make uninstall removes them)."
# DESTDIR is for those who make packages.
test -z "${DESTDIR:-}" || exit 0
case $prefix in
  /usr | /usr/local) echo "If programs do not find its libraries: sudo ldconfig" ;;
  *)
    echo "For programs to find it there:"
    echo "  export PATH=$prefix/bin:\$PATH"
    echo "  export LD_LIBRARY_PATH=$library\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}"
    echo "  export PKG_CONFIG_PATH=$library/pkgconfig\${PKG_CONFIG_PATH:+:\$PKG_CONFIG_PATH}"
    echo "  export CMAKE_PREFIX_PATH=$prefix\${CMAKE_PREFIX_PATH:+:\$CMAKE_PREFIX_PATH}"
    ;;
esac
