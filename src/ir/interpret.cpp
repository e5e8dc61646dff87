// src/ir/interpret.cpp: a plain interpreter of kernels.
#include "ir/interpret.h"

#include <bit>
#include <cstring>

#include <pardo/error.h>

#include "ir/eval.h"
#include "ir/rules.h"

namespace pardo::ir {
namespace {

template <class T> T fetch(const void* at) {
    T v;
    std::memcpy(&v, at, sizeof v);
    return v;
}
template <class T> void put(void* at, T v) { std::memcpy(at, &v, sizeof v); }

Scalar read(DType type, const void* at) {
    switch (type) {
        case DType::Bool: return Scalar(fetch<std::uint8_t>(at) != 0);
        case DType::Float16: return make_float(type, half_to_float(Half{fetch<std::uint16_t>(at)}));
        case DType::Float32: return make_float(type, fetch<float>(at));
        case DType::Float64: return make_float(type, fetch<double>(at));
        case DType::Complex64: return make_complex(type, fetch<float>(at), fetch<float>(static_cast<const float*>(at) + 1));
        case DType::Complex128: return make_complex(type, fetch<double>(at), fetch<double>(static_cast<const double*>(at) + 1));
        default: {
            std::uint64_t bits = 0;
            std::memcpy(&bits, at, static_cast<std::size_t>(itemsize(type)));
            return make_integer(type, bits);
        }
    }
}

void write(const Scalar& s, void* at) {
    switch (s.dtype) {
        case DType::Bool: return put<std::uint8_t>(at, s.b);
        case DType::Float16: return put(at, double_to_half(s.f).bits);
        case DType::Float32: return put(at, static_cast<float>(s.f));
        case DType::Float64: return put(at, s.f);
        case DType::Complex64: put(at, static_cast<float>(s.c.re)); return put(static_cast<float*>(at) + 1, static_cast<float>(s.c.im));
        case DType::Complex128: put(at, s.c.re); return put(static_cast<double*>(at) + 1, s.c.im);
        default: std::memcpy(at, &s.u, static_cast<std::size_t>(itemsize(s.dtype)));
    }
}

class Interpreter {
public:
    Interpreter(const Kernel& kernel, std::span<const std::uint64_t> args, std::span<const std::int64_t> extents)
        : kernel_(kernel), extents_(extents), values_(kernel.values.size()), pointers_(kernel.params.size()), index_(extents.size(), 0) {
        std::size_t slot = 0;
        for (std::size_t k = 0; k < kernel.params.size(); ++k) {
            const Param& p = kernel.params[k];
            const std::size_t slots = !p.pointer && is_complex(p.type) ? 2 : 1;
            if (slot + slots > args.size())
                throw Error(ErrorCode::Internal, "interpret: too few arguments for kernel '" + kernel.name + "'");
            if (p.pointer) {
                pointers_[k] = std::bit_cast<unsigned char*>(args[slot]);
            } else if (slots == 2) {
                const DType part = real_of(p.type);
                values_[p.value] = make_complex(p.type, read(part, &args[slot]).f, read(part, &args[slot + 1]).f);
            } else {
                values_[p.value] = read(p.type, &args[slot]);
            }
            slot += slots;
        }
        if (slot != args.size()) throw Error(ErrorCode::Internal, "interpret: too many arguments for kernel '" + kernel.name + "'");
        if (static_cast<int>(extents.size()) != kernel.rank)
            throw Error(ErrorCode::Internal, "interpret: one extent is needed for each dimension");
    }

    void run() {
        for (std::int64_t extent : extents_)
            if (extent <= 0) return;
        for (;;) {
            region(kernel_.body);
            std::size_t d = index_.size();
            for (; d > 0; --d) {
                if (++index_[d - 1] < extents_[d - 1]) break;
                index_[d - 1] = 0;
            }
            if (d == 0) return;
        }
    }

private:
    using Scalars = std::vector<Scalar>;

    std::int64_t integer(const Instr& in, int k) const { return values_[in.operands[k]].i; }

    /// Runs a region; what its Yield gives.
    Scalars region(const Region& r) {
        for (InstrId id : r.body) {
            const Instr& in = kernel_.instrs[id];
            if (in.op == Opcode::Yield) return gather(in.operands, 0);
            instr(in);
        }
        return {};
    }

    Scalars gather(std::span<const Value> list, std::size_t from) const {
        Scalars out;
        for (Value v : list.subspan(from)) out.push_back(values_[v]);
        return out;
    }

    void assign(std::span<const Value> to, std::size_t from, const Scalars& values) {
        for (std::size_t k = 0; k < values.size(); ++k) values_[to[from + k]] = values[k];
    }

    void instr(const Instr& in) {
        switch (in.op) {
            case Opcode::Const: values_[in.results[0]] = in.scalar; return;
            case Opcode::Param: return;
            case Opcode::Dim: values_[in.results[0]] = make_integer(DType::Int64, static_cast<std::uint64_t>(index_[in.index])); return;
            case Opcode::Extent:
                values_[in.results[0]] = make_integer(DType::Int64, static_cast<std::uint64_t>(extents_[in.index]));
                return;
            case Opcode::Load: values_[in.results[0]] = read(kernel_.values[in.results[0]].type, address(in)); return;
            case Opcode::Store: return write(values_[in.operands[2]], address(in));
            case Opcode::For: return for_loop(in);
            case Opcode::If: return assign(in.results, 0, region(kernel_.regions[in.regions[values_[in.operands[0]].b ? 0 : 1]]));
            case Opcode::While: return while_loop(in);
            default: {
                SmallVector<Scalar, 4> operands;
                for (Value v : in.operands) operands.push_back(values_[v]);
                values_[in.results[0]] = evaluate(in.op, in.math, kernel_.values[in.results[0]].type, operands);
            }
        }
    }

    void* address(const Instr& in) const {
        const Param& p = kernel_.params[kernel_.instrs[kernel_.values[in.operands[0]].def].index];
        return pointers_[static_cast<std::size_t>(&p - kernel_.params.data())] + integer(in, 1) * itemsize(p.type);
    }

    void for_loop(const Instr& in) {
        const Region& r = kernel_.regions[in.regions[0]];
        const std::int64_t upper = integer(in, 1), step = integer(in, 2);
        const bool lanes = in.loop == LoopKind::Lanes;
        Scalars carried = gather(in.operands, 3);
        for (std::int64_t i = integer(in, 0); step > 0 ? i < upper : i > upper; i += step) {
            values_[r.args[0]] = make_integer(DType::Int64, static_cast<std::uint64_t>(i));
            if (!lanes) assign(r.args, 1, carried);
            const Scalars next = region(r);
            for (std::size_t k = 0; k < next.size(); ++k)
                carried[k] = lanes ? combine(in.combines[static_cast<int>(k)], carried[k], next[k]) : next[k];
        }
        assign(in.results, 0, carried);
    }

    static Scalar combine(Combine c, const Scalar& a, const Scalar& b) {
        constexpr Opcode ops[] = {Opcode::Add, Opcode::Mul, Opcode::Min, Opcode::Max, Opcode::And, Opcode::Or};
        const Scalar operands[] = {a, b};
        return evaluate(ops[static_cast<int>(c)], {}, a.dtype, operands);
    }

    void while_loop(const Instr& in) {
        const Region &condition = kernel_.regions[in.regions[0]], &r = kernel_.regions[in.regions[1]];
        Scalars carried = gather(in.operands, 0);
        for (;;) {
            assign(condition.args, 0, carried);
            if (!region(condition)[0].b) break;
            assign(r.args, 0, carried);
            carried = region(r);
        }
        assign(in.results, 0, carried);
    }

    const Kernel& kernel_;
    std::span<const std::int64_t> extents_;
    std::vector<Scalar> values_;
    std::vector<unsigned char*> pointers_;
    std::vector<std::int64_t> index_;
};

}  // namespace

void interpret(const Kernel& kernel, std::span<const std::uint64_t> args, std::span<const std::int64_t> extents) {
    Interpreter(kernel, args, extents).run();
}

}  // namespace pardo::ir
