// src/run/run.cpp: pardo/run.h: loads a program, and runs its launches one after another, each on the threads of the pool.
#include <pardo/error.h>
#include <pardo/run.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include "emit/runtime/shared_loop.h"
#include "run/math.h"
#include "run/pool.h"
#include "saved/machine_code.h"
#include "saved/program.h"

using namespace pardo;

/// A loaded program. What it has loaded of its code stays.
struct pardo_run_program {
    explicit pardo_run_program(std::unique_ptr<saved::Loaded> read) : loaded(std::move(read)) {}
    const std::unique_ptr<saved::Loaded> loaded;
    const saved::Program& program = loaded->program();
    std::string signature;
    std::shared_ptr<void> library;
    std::vector<saved::MachineCode> codes;  // by Loaded::mutex()

    using Entry = void (*)(const std::uint64_t* args, const std::int64_t* extents, const std::int64_t* begin, const std::int64_t* end,
                           const std::uint8_t* stop);
    Entry code(std::size_t number) {
        const std::lock_guard lock(saved::Loaded::mutex());
        saved::MachineCode& known = codes[number];
        if (!known.entry)
            known = saved::load_machine_code(loaded->object(number), saved::entry_symbol,
                                             [&](const char* name) { return run::function_in(library.get(), name); });
        return reinterpret_cast<Entry>(known.entry);
    }
};

namespace {

thread_local std::string last_error;  // NOLINT(clang-diagnostic-exit-time-destructors): each thread has its own

constexpr double serial_limit_ns = 20'000;
constexpr std::size_t alignment = 64;

static_assert(static_cast<int>(DType::Bool) + 1 == PARDO_BOOL && static_cast<int>(DType::Float64) + 1 == PARDO_FLOAT64 &&
              static_cast<int>(DType::BFloat16) + 1 == PARDO_BFLOAT16 && dtype_count == PARDO_BFLOAT16);

/// Runs `f`, whose exceptions become the thread's error.
template <class F> std::int32_t guarded(F&& f) noexcept {
    try {
        f();
        return 0;
    } catch (const std::exception& e) {
        try {
            last_error = e.what();
        } catch (...) {
            last_error.clear();
        }
    }
    return -1;
}

struct Free {
    void operator()(void* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<void, Free>;

Memory allocated(std::int64_t bytes) {
    const std::size_t count = (static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1)) + alignment - 1) / alignment * alignment;
    Memory memory(bytes < 0 ? nullptr : std::aligned_alloc(alignment, count));
    if (!memory) throw Error(ErrorCode::Memory, "pardo_run: no memory for " + std::to_string(bytes) + " bytes");
    return memory;
}

std::int64_t count_of(const std::int64_t* shape, int rank) {
    std::int64_t count = 1;
    for (int d = 0; d < rank; ++d) count *= shape[d];
    return count;
}

bool row_major(const std::int64_t* shape, const std::int64_t* strides, int rank) {
    if (!strides) return true;
    std::int64_t expected = 1;
    for (int d = rank - 1; d >= 0; --d) {
        if (shape[d] != 1 && strides[d] != expected) return false;
        expected *= shape[d];
    }
    return true;
}

/// Copies elements between two layouts.
void copy(char* to, const std::int64_t* to_strides, const char* from, const std::int64_t* from_strides, const std::int64_t* shape, int rank,
          std::int64_t size) {
    if (rank == 0) {
        std::memcpy(to, from, static_cast<std::size_t>(size));
        return;
    }
    for (std::int64_t i = 0; i < shape[0]; ++i)
        copy(to + i * to_strides[0] * size, to_strides + 1, from + i * from_strides[0] * size, from_strides + 1, shape + 1, rank - 1, size);
}

void contiguous_strides(const std::int64_t* shape, int rank, std::int64_t* strides) {
    std::int64_t step = 1;
    for (int d = rank - 1; d >= 0; --d) {
        strides[d] = step;
        step *= shape[d];
    }
}

/// Threads for loops inside of a kernel.
class LoopsOnPool final : public emit::LoopThreads {
public:
    void run(emit::LoopPart part, std::int64_t count, int parts, void* context, const std::uint8_t* stop) override {
        pardo::run::run_parts(parts, [&](int k) { part(count * k / parts, count * (k + 1) / parts, context, nullptr, stop); });
    }
    int threads() const noexcept override { return pardo::run::threads(); }
};

/// One launch over its whole range, cut along the dimension that gives every thread enough.
void launch(pardo_run_program::Entry entry, const saved::Code& code, const std::vector<std::int64_t>& extents, const std::uint64_t* words,
            double cost_ns) {
    static constexpr std::int64_t zeros[saved::most_dimensions] = {};
    static const std::uint8_t never = 0;
    LoopsOnPool loops;
    const emit::UsedThreads used(extents.empty() ? &loops : nullptr);
    const int threads = cost_ns < serial_limit_ns ? 1 : pardo::run::threads();
    std::size_t cut = extents.size();
    std::int64_t unit = 1, pieces = 1;
    for (std::size_t d = 0; threads > 1 && d < extents.size(); ++d) {
        const std::int64_t items = !code.group_size.empty() ? code.group_size[d] : d + 1 == extents.size() ? code.granularity : 1;
        const std::int64_t here = (extents[d] + items - 1) / items;
        if (here <= pieces) continue;
        cut = d;
        unit = items;
        pieces = here;
        if (here >= 4 * threads) break;
    }
    const auto parts = static_cast<int>(std::min<std::int64_t>(pieces, threads));
    if (parts < 2) return entry(words, extents.data(), zeros, extents.data(), &never);
    pardo::run::run_parts(parts, [&](int part) {
        std::vector<std::int64_t> begin(extents.size(), 0), end = extents;
        begin[cut] = std::min(extents[cut], pieces * part / parts * unit);
        end[cut] = std::min(extents[cut], pieces * (part + 1) / parts * unit);
        if (begin[cut] < end[cut]) entry(words, extents.data(), begin.data(), end.data(), &never);
    });
}

saved::Resolved resolved(const pardo_run_program& loaded, const pardo_run_array* inputs, std::int32_t count) {
    const saved::Program& p = loaded.program;
    if (count < 0 || (count > 0 && !inputs)) throw Error(ErrorCode::Value, p.name + ": inputs is NULL");
    std::vector<saved::Shape> shapes;
    for (std::int32_t k = 0; k < count; ++k) {
        if (inputs[k].ndim < 0 || inputs[k].ndim > PARDO_RUN_MAX_DIMENSIONS)
            throw Error(ErrorCode::Value,
                        p.name + ": input " + std::to_string(k) + " has " + std::to_string(inputs[k].ndim) + " dimensions");
        for (int d = 0; d < inputs[k].ndim; ++d)
            if (inputs[k].shape[d] < 0) throw Error(ErrorCode::Value, p.name + ": input " + std::to_string(k) + " has a negative extent");
        shapes.push_back({inputs[k].shape, inputs[k].ndim});
    }
    const std::vector<std::int64_t> sizes = saved::sizes_of(p, shapes);
    for (std::int32_t k = 0; k < count; ++k) {
        const saved::Argument& a = p.arguments[static_cast<std::size_t>(k)];
        if (inputs[k].dtype != static_cast<int>(a.dtype) + 1)
            throw Error(ErrorCode::Type, p.name + ": argument " + a.name + " is of " + std::string(dtype_name(a.dtype)) + ", got dtype " +
                                             std::to_string(inputs[k].dtype));
    }
    return loaded.loaded->resolve(sizes);
}

/// The outputs' dtypes and shapes.
std::vector<pardo_run_array> described(const saved::Program& p, const saved::Resolved& s) {
    std::vector<pardo_run_array> all;
    for (std::size_t k = 0; k < s.regime->outputs.size(); ++k) {
        const saved::Output& output = s.regime->outputs[k];
        pardo_run_array one{};
        one.dtype = static_cast<int>(p.outputs[k]) + 1;
        one.ndim = static_cast<std::int32_t>(output.shape.size());
        for (std::size_t d = 0; d < output.shape.size(); ++d) one.shape[d] = output.shape[d].in(s.values);
        all.push_back(one);
    }
    return all;
}

void check_count(const saved::Program& p, std::int32_t count, const pardo_run_array* outputs) {
    if (static_cast<std::size_t>(std::max(count, 0)) != p.outputs.size() || (count > 0 && !outputs))
        throw Error(ErrorCode::Value,
                    p.name + ": gives " + std::to_string(p.outputs.size()) + " arrays, and there is room for " + std::to_string(count));
}

void run_program(pardo_run_program& loaded, const pardo_run_array* inputs, std::int32_t input_count, pardo_run_array* outputs,
                 std::int32_t output_count) {
    const saved::Program& p = loaded.program;
    check_count(p, output_count, outputs);
    const saved::Resolved s = resolved(loaded, inputs, input_count);
    const saved::Regime& regime = *s.regime;
    const std::vector<pardo_run_array> given = described(p, s);
    for (std::size_t k = 0; k < given.size(); ++k) {
        if (!outputs[k].data) continue;
        if (outputs[k].dtype != given[k].dtype || outputs[k].ndim != given[k].ndim ||
            !std::equal(given[k].shape, given[k].shape + given[k].ndim, outputs[k].shape))
            throw Error(ErrorCode::Value,
                        p.name + ": output " + std::to_string(k) + " is of another dtype or shape: pardo_run_shapes tells them");
    }
    for (const saved::Output& output : regime.outputs) {  // a view of an input: it is copied in the end
        if (output.value >= p.arguments.size()) continue;
        const pardo_run_array& in = inputs[output.value];
        const auto* const begin = static_cast<const char*>(in.data);
        const std::int64_t bytes = count_of(in.shape, in.ndim) * itemsize(p.arguments[output.value].dtype);
        for (std::size_t k = 0; k < given.size(); ++k) {
            std::int64_t low = 0, high = 1, strides[PARDO_RUN_MAX_DIMENSIONS];  // elements around the first one
            contiguous_strides(given[k].shape, given[k].ndim, strides);
            for (int d = 0; d < given[k].ndim; ++d) {
                const std::int64_t reach = (given[k].shape[d] - 1) * (outputs[k].strides ? outputs[k].strides[d] : strides[d]);
                (reach < 0 ? low : high) += reach;
            }
            const auto* const to = static_cast<const char*>(outputs[k].data);
            const std::int64_t size = itemsize(p.outputs[k]);
            if (to && to + low * size < begin + bytes && begin < to + high * size)
                throw Error(ErrorCode::Value, p.name + ": output " + std::to_string(k) + " lies in the memory of argument " +
                                                  p.arguments[output.value].name +
                                                  ", which another output shows: give it memory of its own");
        }
    }
    const std::size_t arguments = p.arguments.size(), first_slot = arguments + p.constants.size(),
                      first_scratch = first_slot + regime.slots.size();
    // Inputs, row-major; constants, which nothing writes; slots. Scratch is each part's own.
    std::vector<char*> at(first_scratch, nullptr);
    std::vector<Memory> owned(first_scratch);
    for (std::size_t k = 0; k < arguments; ++k) {
        const pardo_run_array& in = inputs[k];
        const std::int64_t size = itemsize(p.arguments[k].dtype), elements = count_of(in.shape, in.ndim);
        if (!in.data && elements > 0) throw Error(ErrorCode::Value, p.name + ": the data of argument " + p.arguments[k].name + " is NULL");
        at[k] = static_cast<char*>(in.data);
        if (elements == 0 || row_major(in.shape, in.strides, in.ndim)) continue;
        if (s.written[k])
            throw Error(ErrorCode::Value, p.name + ": argument " + p.arguments[k].name + " is written, and has to be row-major");
        owned[k] = allocated(elements * size);
        std::int64_t strides[PARDO_RUN_MAX_DIMENSIONS];
        contiguous_strides(in.shape, in.ndim, strides);
        copy(static_cast<char*>(owned[k].get()), strides, at[k], in.strides, in.shape, in.ndim, size);
        at[k] = static_cast<char*>(owned[k].get());
    }
    const auto bytes_of = [&](std::size_t k) { return count_of(inputs[k].shape, inputs[k].ndim) * itemsize(p.arguments[k].dtype); };
    for (std::size_t k = 0; k < arguments; ++k)
        for (std::size_t other = 0; other < arguments && s.written[k]; ++other)
            if (other != k && at[k] < at[other] + bytes_of(other) && at[other] < at[k] + bytes_of(k))
                throw Error(ErrorCode::Value, p.name + ": argument " + p.arguments[k].name + " is written, and shares memory with " +
                                                  p.arguments[other].name + ": copy one of them");
    for (std::size_t k = arguments; k < first_slot; ++k) {
        const std::vector<std::uint8_t>& bytes = p.constants[k - arguments].bytes;
        if (!s.written[k]) {
            at[k] = const_cast<char*>(reinterpret_cast<const char*>(bytes.data()));
            continue;
        }
        owned[k] = allocated(static_cast<std::int64_t>(bytes.size()));
        at[k] = static_cast<char*>(owned[k].get());
        std::memcpy(at[k], bytes.data(), bytes.size());
    }
    const auto need = [&](std::size_t value) {
        if (value >= first_slot && !owned[value]) {
            owned[value] = allocated(regime.slots[value - first_slot].in(s.values));
            at[value] = static_cast<char*>(owned[value].get());
        }
        return at[value];
    };
    std::vector<std::uint64_t> words;
    std::vector<std::int64_t> extents;
    for (std::size_t i = 0; i < s.parts.size(); ++i) {
        const saved::Alternative& part = *s.parts[i].alternative;
        const std::vector<std::int64_t>& values = s.parts[i].values;
        std::vector<Memory> scratch;
        for (const saved::Number& bytes : part.scratch) scratch.push_back(allocated(bytes.in(values)));
        for (const saved::Launch& one : part.launches) {
            if (!one.range(values, extents)) continue;
            words.clear();
            std::int64_t status[saved::status_words] = {};
            const auto address = [&](std::uint32_t value) {
                const void* const memory = value == saved::status_value ? status
                                           : value >= first_scratch     ? scratch[value - first_scratch].get()
                                                                        : static_cast<const void*>(need(value));
                return reinterpret_cast<std::uint64_t>(memory);
            };
            one.bind(values, address, words);
            launch(loaded.code(one.code), p.codes[one.code], extents, words.data(), one.cost(values));
            saved::check_status(status, one.failures, static_cast<int>(extents.size()));
        }
        for (std::size_t value = first_slot; value < first_scratch; ++value)
            if (s.last[value] == i) owned[value] = nullptr;
    }
    std::vector<Memory> results(given.size());
    for (std::size_t k = 0; k < given.size(); ++k) {
        const saved::Output& output = regime.outputs[k];
        const int rank = given[k].ndim;
        const std::int64_t size = itemsize(p.outputs[k]), elements = count_of(given[k].shape, rank), offset = output.offset.in(s.values);
        std::int64_t from[PARDO_RUN_MAX_DIMENSIONS], to[PARDO_RUN_MAX_DIMENSIONS];
        for (int d = 0; d < rank; ++d) from[d] = output.strides[static_cast<std::size_t>(d)].in(s.values);
        const bool alone = std::ranges::count(regime.outputs, output.value, &saved::Output::value) == 1;
        if (!outputs[k].data && output.value >= first_slot && alone && offset == 0 && row_major(given[k].shape, from, rank)) {
            (void)need(output.value);
            results[k] = std::move(owned[output.value]);  // as it is
            continue;
        }
        char* target = static_cast<char*>(outputs[k].data);
        if (!target) {
            results[k] = allocated(elements * size);
            target = static_cast<char*>(results[k].get());
        }
        contiguous_strides(given[k].shape, rank, to);
        const std::int64_t* const steps = outputs[k].data && outputs[k].strides ? outputs[k].strides : to;
        if (elements > 0) copy(target, steps, need(output.value) + offset * size, from, given[k].shape, rank, size);
    }
    for (std::size_t k = 0; k < given.size(); ++k) {
        if (outputs[k].data) continue;
        outputs[k] = given[k];
        outputs[k].data = results[k].release();
    }
}

}  // namespace

extern "C" {

pardo_run_program* pardo_load(const char* path) {
    std::unique_ptr<pardo_run_program> made;
    const std::int32_t failed = guarded([&] {
        if (!path) throw Error(ErrorCode::Value, "pardo_load: path is NULL");
        static const int forks = ::pthread_atfork(nullptr, nullptr, [] { new (&saved::Loaded::mutex()) std::mutex; });
        (void)forks;
        made = std::make_unique<pardo_run_program>(saved::Loaded::read(path, true));
        if (!made->program.routines.empty())
            throw Error(ErrorCode::Value, std::string("pardo_load: ") + path + " calls routines of the whole library (" +
                                              made->program.routine_names() +
                                              "), which this one has not: load it with pardo::SavedProgram::load of libpardo, or with "
                                              "pardo.load_program");
        made->signature = made->program.signature();
        made->library = run::load_library(made->program.math);
        made->codes.resize(made->program.codes.size());
    });
    return failed ? nullptr : made.release();
}

void pardo_unload(pardo_run_program* program) { delete program; }

const char* pardo_run_error(void) { return last_error.c_str(); }

const char* pardo_program_signature(const pardo_run_program* program) { return program ? program->signature.c_str() : ""; }
const char* pardo_program_target(const pardo_run_program* program) { return program ? program->loaded->target().c_str() : ""; }
std::int32_t pardo_program_inputs(const pardo_run_program* program) {
    return program ? static_cast<std::int32_t>(program->program.arguments.size()) : 0;
}
std::int32_t pardo_program_outputs(const pardo_run_program* program) {
    return program ? static_cast<std::int32_t>(program->program.outputs.size()) : 0;
}

std::int32_t pardo_run_shapes(const pardo_run_program* program, const pardo_run_array* inputs, std::int32_t input_count,
                              pardo_run_array* outputs, std::int32_t output_count) {
    return guarded([&] {
        if (!program) throw Error(ErrorCode::Value, "pardo_run_shapes: program is NULL");
        check_count(program->program, output_count, outputs);
        const std::vector<pardo_run_array> all = described(program->program, resolved(*program, inputs, input_count));
        std::ranges::copy(all, outputs);
    });
}

std::int32_t pardo_run(pardo_run_program* program, const pardo_run_array* inputs, std::int32_t input_count, pardo_run_array* outputs,
                       std::int32_t output_count) {
    return guarded([&] {
        if (!program) throw Error(ErrorCode::Value, "pardo_run: program is NULL");
        run_program(*program, inputs, input_count, outputs, output_count);
    });
}

void pardo_run_free(void* data) { std::free(data); }

void pardo_run_set_threads(std::int32_t count) { run::set_threads(count); }

}  // extern "C"
