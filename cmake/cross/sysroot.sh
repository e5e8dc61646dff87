#!/bin/bash
# cmake/cross/sysroot.sh: packages of another processor, unpacked into a folder, for a compiler that runs here.
# usage: sysroot.sh FOLDER DEBIAN_ARCHITECTURE PACKAGE…    the packages and what they need, of the Debian that this machine's apt reads
set -euo pipefail
folder=$1 architecture=$2
shift 2
mkdir -p "$folder/apt/lists/partial" "$folder/apt/archives/partial" "$folder/apt/dpkg" "$folder/root"
: >"$folder/apt/dpkg/status"
# A state of apt of its own: nothing of the machine's is changed.
cat >"$folder/apt/apt.conf" <<CONF
APT::Architecture "$architecture";
APT::Architectures { "$architecture"; };
APT::Install-Recommends "false";
APT::Sandbox::User "";
Dir::State::Lists "$folder/apt/lists";
Dir::State::status "$folder/apt/dpkg/status";
Dir::Cache "$folder/apt";
Dir::Cache::archives "$folder/apt/archives";
Debug::NoLocking "true";
CONF
export APT_CONFIG=$folder/apt/apt.conf
apt-get update -q
apt-get install -y -q --download-only "$@"
# What is in /lib there is in /usr/lib.
root=$folder/root
mkdir -p "$root/usr/bin" "$root/usr/lib" "$root/usr/sbin"
for name in bin lib sbin; do ln -sfn "usr/$name" "$root/$name"; done
for package in "$folder"/apt/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink -C "$root"
done
# LLVM's CMake package names this library by its path on a machine that runs it.
find "$root/usr/lib" -name LLVMExports.cmake -exec sed -i "s|\([\";]\)/usr/lib/\([^/\";]*\)/\(libz3[^\";]*\)|\1$root/usr/lib/\2/\3|g" {} +
# Links to a path from the root would lead to this machine's files.
find "$root" -type l -lname '/*' -printf '%p\t%l\n' | while IFS=$'\t' read -r link target; do ln -sfn "$root$target" "$link"; done
