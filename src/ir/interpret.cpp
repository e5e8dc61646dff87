// src/ir/interpret.cpp: a plain interpreter of kernels.
#include "ir/interpret.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>

#include <pardo/error.h>

#include "ir/eval.h"
#include "ir/rules.h"

namespace pardo::ir {
namespace {

/// What one item remembers: its values and its private arrays.
struct Item {
    std::vector<std::int64_t> index, local;  // in the range, in the group
    std::vector<Scalar> values;
    std::vector<std::vector<unsigned char>> arrays;
};

class Interpreter {
public:
    Interpreter(const Kernel& kernel, std::span<const std::uint64_t> args, std::span<const std::int64_t> extents)
        : kernel_(kernel), extents_(extents), pointers_(kernel.params.size()), arrays_(kernel.arrays.size()) {
        first_.values.resize(kernel.values.size());
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
                first_.values[p.value] = make_complex(p.type, read_element(part, &args[slot]).f, read_element(part, &args[slot + 1]).f);
            } else {
                first_.values[p.value] = read_element(p.type, &args[slot]);
            }
            slot += slots;
        }
        if (slot != args.size()) throw Error(ErrorCode::Internal, "interpret: too many arguments for kernel '" + kernel.name + "'");
        if (static_cast<int>(extents.size()) != kernel.rank)
            throw Error(ErrorCode::Internal, "interpret: one extent is needed for each dimension");
        for (int d = 0; kernel.in_groups() && d < kernel.rank; ++d)
            if (extents[static_cast<std::size_t>(d)] % kernel.group_size[d] != 0)
                throw Error(ErrorCode::Internal, "interpret: the extents must be multiples of the group size");
        barriers_ = barriers_of(kernel);
    }

    void run() {
        for (std::int64_t extent : extents_)
            if (extent <= 0) return;
        std::vector<std::int64_t> groups(extents_.begin(), extents_.end()), size(extents_.size(), 1);
        for (std::size_t d = 0; kernel_.in_groups() && d < groups.size(); ++d) {
            size[d] = kernel_.group_size[static_cast<int>(d)];
            groups[d] /= size[d];
        }
        group_.assign(extents_.size(), 0);
        do {
            make_items(size);
            run_group(kernel_.body);
        } while (next(group_, groups));
    }

private:
    using Scalars = std::vector<Scalar>;
    /// What an array holds before it is written.
    static constexpr unsigned char garbage = 0xA5;
    static constexpr std::int64_t most_bytes = std::int64_t(1) << 32;  // of an array without a fixed size

    /// The index after `index` in a box, last dimension fastest; false after the last one.
    static bool next(std::vector<std::int64_t>& index, std::span<const std::int64_t> extents) {
        for (std::size_t d = index.size(); d > 0; --d) {
            if (++index[d - 1] < extents[d - 1]) return true;
            index[d - 1] = 0;
        }
        return false;
    }

    /// Fresh items and arrays for the group at group_; an item of a range is a group of its own.
    void make_items(std::span<const std::int64_t> size) {
        if (!kernel_.in_groups() && !items_.empty() && kernel_.arrays.empty()) {  // nothing of the last item can be seen
            items_[0].index = group_;
            return;
        }
        items_.clear();
        std::vector<std::int64_t> local(size.size(), 0);
        do {
            Item item = first_;
            item.local = local;
            for (std::size_t d = 0; d < size.size(); ++d) item.index.push_back(group_[d] * size[d] + local[d]);
            for (const ArrayInfo& a : kernel_.arrays)
                item.arrays.emplace_back(a.space == Space::Private ? static_cast<std::size_t>(a.count * itemsize(a.type)) : 0, garbage);
            items_.push_back(std::move(item));
        } while (next(local, size));
        for (std::size_t k = 0; k < arrays_.size(); ++k)
            arrays_[k].assign(static_cast<std::size_t>(kernel_.arrays[k].count * itemsize(kernel_.arrays[k].type)), garbage);
    }

    // All items of a group together: each runs alone from one barrier to the next.

    template <class F> void each_item(F f) {
        for (Item& item : items_) {
            item_ = &item;
            f();
        }
    }

    /// What all items agree on.
    template <class F> Scalar agreed(F of_item) {
        Scalar first;
        each_item([&] {
            const Scalar s = of_item();
            if (item_ == &items_.front()) first = s;
            if (!same_bits(first, s))
                throw Error(ErrorCode::Internal, "interpret: items of one group take different branches around a barrier");
        });
        return first;
    }
    Scalar agreed(Value v) {
        return agreed([&] { return value(v); });
    }

    /// Runs a region; what its Yield gives, one list an item.
    std::vector<Scalars> run_group(const Region& r) {
        std::vector<Scalars> yields;
        for (std::size_t k = 0; k < r.body.size();) {
            std::size_t end = k;
            while (end < r.body.size() && !barriers_[r.body[end]]) ++end;
            each_item([&] {
                for (std::size_t at = k; at < end; ++at) {
                    const Instr& in = kernel_.instrs[r.body[at]];
                    in.op == Opcode::Yield ? yields.push_back(gather(in.operands, 0)) : instr(in);
                }
            });
            if (end < r.body.size()) group_instr(kernel_.instrs[r.body[end]]);
            k = end + 1;
        }
        return yields;
    }

    void assign_each(std::span<const Value> to, std::size_t from, const std::vector<Scalars>& values) {
        std::size_t k = 0;
        each_item([&] { assign(to, from, values[k++]); });
    }
    std::vector<Scalars> gather_each(std::span<const Value> list, std::size_t from) {
        std::vector<Scalars> out;
        each_item([&] { out.push_back(gather(list, from)); });
        return out;
    }

    void shuffle(const Instr& in) {
        const std::vector<Scalars> given = gather_each(in.operands, 0);
        std::size_t k = 0;
        each_item([&] {
            const auto first = static_cast<std::int64_t>(k) & -std::int64_t(kernel_.sub_group);
            value(in.results[0]) = given.at(static_cast<std::size_t>(first + given[k][1].i))[0];
            ++k;
        });
    }

    void group_instr(const Instr& in) {
        if (in.op == Opcode::Barrier) return;
        if (in.op == Opcode::Shuffle) return shuffle(in);
        if (in.op == Opcode::If)
            return assign_each(in.results, 0, run_group(kernel_.regions[in.regions[agreed(in.operands[0]).b ? 0 : 1]]));
        if (in.op == Opcode::While) {
            const Region &condition = kernel_.regions[in.regions[0]], &body = kernel_.regions[in.regions[1]];
            std::vector<Scalars> carried = gather_each(in.operands, 0);
            for (;;) {
                assign_each(condition.args, 0, carried);
                const std::vector<Scalars> goes_on = run_group(condition);
                std::size_t k = 0;
                if (!agreed([&] { return goes_on[k++][0]; }).b) break;
                assign_each(body.args, 0, carried);
                carried = run_group(body);
            }
            return assign_each(in.results, 0, carried);
        }
        if (in.loop_kind() == LoopKind::Lanes) throw Error(ErrorCode::Internal, "interpret: a barrier is in a loop of lanes");
        const Region& body = kernel_.regions[in.regions[0]];
        const std::int64_t upper = agreed(in.operands[1]).i, step = agreed(in.operands[2]).i;
        std::vector<Scalars> carried = gather_each(in.operands, 3);
        for (std::int64_t i = agreed(in.operands[0]).i; step > 0 ? i < upper : i > upper; i += step) {
            each_item([&] { value(body.args[0]) = int64(i); });
            assign_each(body.args, 1, carried);
            carried = run_group(body);
        }
        assign_each(in.results, 0, carried);
    }

    // One item.

    Scalar& value(Value v) { return item_->values[v]; }
    const Scalar& value(Value v) const { return item_->values[v]; }
    static Scalar int64(std::int64_t i) { return make_integer(DType::Int64, static_cast<std::uint64_t>(i)); }

    std::int64_t integer(const Instr& in, int k) const { return value(in.operands[k]).i; }

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
        for (Value v : list.subspan(from)) out.push_back(value(v));
        return out;
    }

    void assign(std::span<const Value> to, std::size_t from, const Scalars& values) {
        for (std::size_t k = 0; k < values.size(); ++k) value(to[from + k]) = values[k];
    }

    void instr(const Instr& in) {
        switch (in.op) {
            case Opcode::Const: value(in.results[0]) = in.scalar(); return;
            case Opcode::Param:
            case Opcode::Array: return;
            case Opcode::Dim: value(in.results[0]) = int64(item_->index[in.index()]); return;
            case Opcode::LocalDim: value(in.results[0]) = int64(item_->local[in.index()]); return;
            case Opcode::GroupDim: value(in.results[0]) = int64(group_[in.index()]); return;
            case Opcode::Extent: value(in.results[0]) = int64(extents_[in.index()]); return;
            case Opcode::Load: value(in.results[0]) = read_element(kernel_.values[in.results[0]].type, address(in)); return;
            case Opcode::Store: return write_element(value(in.operands[2]), address(in));
            case Opcode::Atomic: return atomic(in);
            case Opcode::CompareExchange: return compare_exchange(in);
            case Opcode::Resize: return resize(in);
            case Opcode::TakeMemory: return take_memory(in);
            case Opcode::Report: return report(in);
            case Opcode::Fence: return;  // items run one after the other
            case Opcode::For: return for_loop(in);
            case Opcode::If: return assign(in.results, 0, region(kernel_.regions[in.regions[value(in.operands[0]).b ? 0 : 1]]));
            case Opcode::While: return while_loop(in);
            default: {
                SmallVector<Scalar, 4> operands;
                for (Value v : in.operands) operands.push_back(value(v));
                value(in.results[0]) = evaluate(in.op, function_of(in), kernel_.values[in.results[0]].type, operands);
            }
        }
    }

    void* address(const Instr& in) {
        const Instr& pointer = kernel_.instrs[kernel_.values[in.operands[0]].def];
        const std::int64_t offset = integer(in, 1) * itemsize(kernel_.values[in.operands[0]].type);
        if (pointer.op == Opcode::Param) return pointers_[pointer.index()] + offset;
        const ArrayInfo& array = kernel_.arrays[pointer.index()];
        auto& bytes = array.space == Space::Private ? item_->arrays[pointer.index()] : arrays_[pointer.index()];
        if (offset < 0 || offset >= static_cast<std::int64_t>(bytes.size()))
            throw Error(ErrorCode::Internal,
                        "interpret: index " + std::to_string(integer(in, 1)) + " is outside array '" + array.name + "'");
        return bytes.data() + offset;
    }

    void resize(const Instr& in) {
        const Instr& pointer = kernel_.instrs[kernel_.values[in.operands[0]].def];
        const std::int64_t count = integer(in, 1), size = itemsize(kernel_.arrays[pointer.index()].type);
        const bool fits = count >= 0 && count <= most_bytes / size;
        if (fits) item_->arrays[pointer.index()].resize(static_cast<std::size_t>(count * size), garbage);
        value(in.results[0]) = Scalar(fits);
    }

    void take_memory(const Instr& in) {
        const std::vector<unsigned char>& bytes = item_->arrays[kernel_.instrs[kernel_.values[in.operands[0]].def].index()];
        void* memory = std::malloc(std::max<std::size_t>(bytes.size(), 1));
        if (memory) std::memcpy(memory, bytes.data(), bytes.size());
        value(in.results[0]) = int64(reinterpret_cast<std::int64_t>(memory));
    }

    void report(const Instr& in) {
        const Instr& pointer = kernel_.instrs[kernel_.values[in.operands[0]].def];
        auto* words = reinterpret_cast<std::int64_t*>(pointers_[pointer.index()]);
        if (words[0] != 0) return;
        for (int k = 1; k < in.operands.size(); ++k) words[k - 1] = integer(in, k);
    }

    void atomic(const Instr& in) {
        constexpr Opcode ops[] = {Opcode::Add, Opcode::Sub, Opcode::Min, Opcode::Max, Opcode::And, Opcode::Or, Opcode::Xor};
        void* at = address(in);
        const Scalar operands[] = {read_element(kernel_.values[in.operands[0]].type, at), value(in.operands[2])};
        Scalar result = operands[1];
        if (in.atomic() != AtomicOp::Exchange) {
            Opcode op = ops[static_cast<int>(in.atomic())];
            if (is_float(operands[0].dtype)) op = op == Opcode::Min ? Opcode::Fmin : op == Opcode::Max ? Opcode::Fmax : op;
            result = evaluate(op, {}, operands[0].dtype, operands);
        }
        write_element(result, at);
        value(in.results[0]) = operands[0];
    }

    void compare_exchange(const Instr& in) {
        void* at = address(in);
        const Scalar old = read_element(kernel_.values[in.operands[0]].type, at);
        std::array<unsigned char, 8> expected{};
        write_element(value(in.operands[2]), expected.data());
        if (std::memcmp(at, expected.data(), static_cast<std::size_t>(itemsize(old.dtype))) == 0) write_element(value(in.operands[3]), at);
        value(in.results[0]) = old;
    }

    void for_loop(const Instr& in) {
        const Region& r = kernel_.regions[in.regions[0]];
        const std::int64_t upper = integer(in, 1), step = integer(in, 2);
        const bool lanes = in.loop_kind() == LoopKind::Lanes;
        Scalars carried = gather(in.operands, 3);
        std::vector<Scalars> sums;  // of lanes: contributions combined in pairs, the halves of more and more of them
        std::uint64_t rounds = 0;
        const auto join = [&](Scalars& into, const Scalars& next) {
            for (std::size_t k = 0; k < next.size(); ++k) into[k] = combine(in.combines()[static_cast<int>(k)], into[k], next[k]);
        };
        for (std::int64_t i = integer(in, 0); step > 0 ? i < upper : i > upper; i += step) {
            value(r.args[0]) = int64(i);
            if (!lanes) assign(r.args, 1, carried);
            Scalars next = region(r);
            if (!lanes) {
                carried = std::move(next);
                continue;
            }
            sums.push_back(std::move(next));
            for (std::uint64_t pairs = ++rounds; pairs % 2 == 0; pairs /= 2) {
                join(sums[sums.size() - 2], sums.back());
                sums.pop_back();
            }
        }
        for (std::size_t k = sums.size(); k > 1; --k) join(sums[k - 2], sums[k - 1]);
        if (!sums.empty()) join(carried, sums[0]);
        assign(in.results, 0, carried);
    }

    static Scalar combine(Combine c, const Scalar& a, const Scalar& b) {
        constexpr Opcode ops[] = {Opcode::Add, Opcode::Mul, Opcode::Min, Opcode::Max, Opcode::And, Opcode::Or, Opcode::Xor};
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
    std::vector<unsigned char*> pointers_;
    std::vector<bool> barriers_;  // one an instruction: it is a barrier or has one inside
    Item first_;                  // as each item begins
    std::vector<std::int64_t> group_;
    std::vector<Item> items_;                         // of the group
    Item* item_ = nullptr;                            // whose turn it is
    std::vector<std::vector<unsigned char>> arrays_;  // of the group
};

}  // namespace

void interpret(const Kernel& kernel, std::span<const std::uint64_t> args, std::span<const std::int64_t> extents) {
    Interpreter(kernel, args, extents).run();
}

}  // namespace pardo::ir
