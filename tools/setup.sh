#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tools/setup.sh [ci | bench | cuda]: everything the build and the tests need, and nothing twice. Debian
# packages by apt, the Python tools in .venv, the digits in data/. `ci` adds what only `make ci`
# uses, `bench` an environment of its own with PyTorch (about 6 GB: PyPI's build brings CUDA's
# libraries, used or not) and the malloc that it is also measured with; `cuda` adds nvcc, in an
# environment of its own, where none is on the path.
set -eu
cd "$(dirname "$0")/.."
venv=${VENV:-.venv}
sections=build
[ "${1:-}" = ci ] && sections="build ci"
[ "${1:-}" = bench ] && sections="build bench"

packages_of() {
  awk -v want="$1" '/^#/ { next } /^\[/ { on = ($0 == "[" want "]"); next } on && NF' \
    tools/packages.txt
}

install_packages() {
  if ! command -v dpkg-query > /dev/null; then
    echo "setup: no Debian; the names in tools/packages.txt tell what has to be installed"
    return
  fi
  local missing=() package
  for package in $(for s in $sections; do packages_of "$s"; done); do
    dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null | grep -qx installed ||
      missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo > /dev/null; then
      echo "setup: these Debian packages are missing, and there is neither root nor sudo here:" >&2
      echo "    apt-get install ${missing[*]}" >&2
      exit 1
    fi
    as_root=(sudo)
  fi
  echo "setup: installing Debian packages: ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
    --no-install-recommends "${missing[@]}" > /dev/null
}

# A Python that can make environments and compile modules; Debian's own before others on the path.
find_python() {
  local candidate
  for candidate in "${PYTHON:-}" /usr/bin/python3 python3 python3.13 python3.12 python3.11; do
    [ -n "$candidate" ] && command -v "$candidate" > /dev/null || continue
    if "$candidate" - 2> /dev/null << 'END'
import os, sys, sysconfig
import ensurepip, venv
header = os.path.join(sysconfig.get_paths()["include"], "Python.h")
sys.exit(sys.version_info < (3, 11) or not os.path.exists(header))
END
    then
      command -v "$candidate"
      return
    fi
  done
  echo "setup: no Python 3.11 or later with Python.h and venv (python3-dev, python3-venv)" >&2
  exit 1
}

make_environment() { # FOLDER REQUIREMENTS
  local folder=$1 requirements=$2 python wanted
  wanted=$(sha256sum < "$requirements")
  if [ -x "$folder/bin/python" ] && [ "$(cat "$folder/libdl-stamp" 2> /dev/null)" = "$wanted" ]; then
    return
  fi
  python=$(find_python)
  echo "setup: Python tools into $folder with $python ($("$python" -V))"
  [ -x "$folder/bin/python" ] || "$python" -m venv "$folder"
  "$folder/bin/python" -m pip install --quiet --disable-pip-version-check -r "$requirements"
  echo "$wanted" > "$folder/libdl-stamp"
}

install_packages
make_environment "$venv" tools/requirements.txt
if [ "${1:-}" = cuda ] && ! command -v nvcc > /dev/null && [ ! -x /usr/local/cuda/bin/nvcc ]; then
  make_environment .venv-cuda tools/requirements-cuda.txt
fi
[ "${1:-}" != bench ] || make_environment .venv-bench tools/requirements-bench.txt
"$venv/bin/python" -B tools/digits.py data/digits.safetensors
