#!/usr/bin/env bash
# tests/gpu/run.sh: the tests on a machine with an NVIDIA GPU, from a wheel, without a network.
#
#   tests/gpu/run.sh FOLDER [--cuda | --opencl | --all] [arguments of pytest]
#
# Installs dist/*.whl (pardo, and what it needs that the machine lacks: nanobind_backend, scipy_openblas32) into a folder of its own, says
# what pardo finds, and runs tests/conformance and tests/python with what the tests print in FOLDER. Without arguments of pytest it runs the
# conformance suite on the devices named. Ends in under nine minutes: what has not run by then counts as failed.
set -u
[ $# -ge 1 ] || { sed -n '3,9s/^# \{0,1\}//p' "$0"; exit 2; }
mkdir -p "$1" && out=$(realpath "$1") || exit 2
shift
cd "$(dirname "$0")/../.." || exit 2

devices='cuda,opencl'
case "${1:-}" in
    --cuda) devices=cuda; shift ;;
    --opencl) devices=opencl; shift ;;
    --all) devices=''; shift ;;
esac

python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m pip install -q --no-index --no-deps --no-compile --no-cache-dir --upgrade --target "$work/site" dist/*.whl || exit 1
export PYTHONPATH=$work/site

# One folder that announces every OpenCL there may be: loaders differ in where else they look. What is not installed is passed over.
mkdir "$work/vendors"
echo libnvidia-opencl.so.1 >"$work/vendors/nvidia.icd"
echo libpocl.so.2 >"$work/vendors/pocl.icd"
export OCL_ICD_VENDORS=$work/vendors/
unset OCL_ICD_FILENAMES

export PARDO_CACHE_DIR=$work/cache
[ -n "$devices" ] && export PARDO_TEST_DEVICES=$devices
{
    date -u
    nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
    "$python" -m pardo --list 2>&1 || "$python" -m pardo 2>&1
} | tee "$out/machine.txt"

# Processes share the GPU; each context takes half a gigabyte of its memory.
workers=${WORKERS:-12}
[ $# -gt 0 ] || set -- tests/conformance
timeout --signal=INT --kill-after=15 "${SECONDS_AT_MOST:-510}" \
    "$python" -m pytest -p no:cacheprovider -p no:benchmark -n "$workers" --dist=worksteal -q --durations=15 --junitxml="$out/results.xml" "$@" \
    >"$out/tests.txt" 2>&1
status=$?
tail -n 40 "$out/tests.txt"
exit $status
