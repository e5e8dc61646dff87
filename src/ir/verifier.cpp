// src/ir/verifier.cpp: checks that a kernel keeps the rules of ir.h: operands, dominance, dtypes, region shapes, loops.
#include <pardo/error.h>

#include "base/shape.h"
#include "ir/printer.h"
#include "ir/rules.h"

namespace pardo::ir {
namespace {

class Verifier {
public:
    explicit Verifier(const Kernel& kernel)
        : kernel_(kernel), visible_(kernel.values.size(), false), seen_(kernel.instrs.size(), false), used_(kernel.regions.size(), false) {}

    void run() {
        if (kernel_.rank < 0 || kernel_.rank > max_rank)
            fail_kernel("the rank must be between 0 and 32, not " + std::to_string(kernel_.rank));
        for (std::size_t k = 0; k < kernel_.params.size(); ++k) param(k);
        for (std::size_t k = 0; k < kernel_.arrays.size(); ++k) array(k);
        if (kernel_.in_groups()) groups();
        if (!kernel_.body.args.empty()) fail_kernel("the body takes no arguments");
        body(kernel_.body, no_instr);
    }

private:
    static constexpr InstrId no_instr = ~0u;

    [[noreturn]] void fail_kernel(const std::string& rule) const {
        throw Error(ErrorCode::Internal, "verify: kernel '" + kernel_.name + "': " + rule);
    }
    [[noreturn]] void fail(InstrId id, const std::string& rule) const { fail_kernel("'" + Printer(kernel_).line(id) + "': " + rule); }
    void require(bool condition, InstrId id, const char* rule) const {
        if (!condition) fail(id, rule);
    }

    void param(std::size_t k) {
        const Param& p = kernel_.params[k];
        auto bad = [&](const char* rule) { fail_kernel("parameter " + std::to_string(k) + " '" + p.name + "': " + rule); };
        if (p.value >= kernel_.values.size()) bad("it has no value");
        const ValueInfo& v = kernel_.values[p.value];
        const Instr::Attribute attribute = Index{static_cast<std::uint32_t>(k)};
        if (v.type != p.type || v.pointer != p.pointer) bad("its value has another type");
        if (v.result < 0 || v.def >= kernel_.instrs.size() || kernel_.instrs[v.def].op != Opcode::Param ||
            kernel_.instrs[v.def].attribute != attribute)
            bad("its value is not defined by its param instruction");
        if (static_cast<int>(p.access) < 1 || static_cast<int>(p.access) > 3) bad("unknown access");
        if (!p.pointer && p.access != Access::Read) bad("scalars are read only");
    }

    void array(std::size_t k) {
        const ArrayInfo& a = kernel_.arrays[k];
        auto bad = [&](const char* rule) { fail_kernel("array " + std::to_string(k) + " '" + a.name + "': " + rule); };
        if (a.value >= kernel_.values.size()) bad("it has no value");
        const ValueInfo& v = kernel_.values[a.value];
        const Instr::Attribute attribute = Index{static_cast<std::uint32_t>(k)};
        if (v.type != a.type || !v.pointer) bad("its value has another type");
        if (v.result < 0 || v.def >= kernel_.instrs.size() || kernel_.instrs[v.def].op != Opcode::Array ||
            kernel_.instrs[v.def].attribute != attribute)
            bad("its value is not defined by its array instruction");
        if (a.count < 0 || (a.count == 0 && (a.space == Space::Group || kernel_.lanes))) bad("it has no elements");
        if (a.space == Space::Group && !kernel_.in_groups()) bad("the kernel has no groups");
    }

    void groups() const {
        if (kernel_.group_size.size() != kernel_.rank) fail_kernel("groups need a size in each dimension");
        for (const std::int64_t n : kernel_.group_size)
            if (n < 1) fail_kernel("groups have at least one item in each dimension");
        if (!kernel_.lanes) fail_kernel("the items of groups are lanes");
        if (kernel_.sub_group & (kernel_.sub_group - 1) || kernel_.sub_group < 0) fail_kernel("a sub-group has a power of two of items");
    }

    DType type(Value v) const { return kernel_.values[v].type; }
    DType type(const Instr& in, int k) const { return type(in.operands[k]); }

    /// Checks a list of instructions; what it defines is visible to the end of it, and in the regions inside.
    void body(const Region& region, InstrId owner) {
        std::vector<Value> defined(region.args.begin(), region.args.end());
        for (Value v : region.args) visible_[v] = true;
        for (std::size_t k = 0; k < region.body.size(); ++k) {
            const InstrId id = region.body[k];
            if (id >= kernel_.instrs.size()) fail_kernel("a region holds an instruction that does not exist");
            const Instr& in = kernel_.instrs[id];
            require(!seen_[id], id, "it is in more than one place");
            seen_[id] = true;
            const bool last = k + 1 == region.body.size();
            require(in.op <= Opcode::Yield, id, "unknown operation");
            if (in.op == Opcode::Yield)
                require(owner != no_instr && last, id, "yield ends a region, and only that");
            else if (last && owner != no_instr)
                fail(id, "a region must end in yield");
            instr(id, in, owner);
            for (int r = 0; r < in.results.size(); ++r) {
                const Value v = in.results[r];
                require(v < kernel_.values.size() && kernel_.values[v].def == id && kernel_.values[v].result == r, id,
                        "its results do not refer to it");
                visible_[v] = true;
                defined.push_back(v);
            }
        }
        if (region.body.empty() && owner != no_instr) fail(owner, "a region is empty; it must end in yield");
        for (Value v : defined) visible_[v] = false;
    }

    void operands(InstrId id, const Instr& in) const {
        for (int k = 0; k < in.operands.size(); ++k) {
            const Value v = in.operands[k];
            if (v >= kernel_.values.size()) fail(id, "operand " + std::to_string(k) + " does not exist");
            if (!visible_[v]) fail(id, "operand " + std::to_string(k) + " is used before its definition or outside its region");
            const bool pointer_place = k == 0 && takes_pointer(in.op);
            if (kernel_.values[v].pointer != pointer_place)
                fail(id, "operand " + std::to_string(k) + (pointer_place ? " must be a pointer" : " must not be a pointer"));
        }
    }

    void instr(InstrId id, const Instr& in, InstrId owner) {
        require(has_its_attribute(in), id, "its attribute is that of another operation");
        operands(id, in);
        if (is_pure(in.op)) return plain(id, in);
        switch (in.op) {
            case Opcode::Load: return memory(id, in, 2, Access::Read);
            case Opcode::Store: return memory(id, in, 3, Access::Write);
            case Opcode::Atomic: return memory(id, in, 3, Access::ReadWrite);
            case Opcode::CompareExchange: return memory(id, in, 4, Access::ReadWrite);
            case Opcode::Resize:
            case Opcode::TakeMemory: return resize(id, in);
            case Opcode::Report: return report(id, in);
            case Opcode::Shuffle:
                require(in.operands.size() == 2 && in.results.size() == 1 && in.regions.empty(), id, "it takes a value and an index");
                require(type(in, 1) == DType::Int64 && type(in, 0) == type(in.results[0]), id,
                        "the index is int64, the result as the value");
                return require(kernel_.in_groups() && kernel_.sub_group > 0, id, "only kernels with sub-groups have shuffles");
            case Opcode::Fence:
                return require(
                    in.operands.empty() && in.results.empty() && in.regions.empty() && in.ordering().order != MemoryOrder::Relaxed, id,
                    "it has no operands, results or regions, and is not relaxed");
            case Opcode::Barrier:
                require(in.operands.empty() && in.results.empty() && in.regions.empty(), id, "it has no operands, results or regions");
                return require(kernel_.in_groups(), id, "only kernels in groups have barriers");
            case Opcode::For: return for_loop(id, in);
            case Opcode::If: return if_else(id, in);
            case Opcode::While: return while_loop(id, in);
            default: return yield(id, in, owner);
        }
    }

    void plain(InstrId id, const Instr& in) const {
        require(in.regions.empty(), id, "it has no regions");
        require(in.results.size() == 1 && in.results[0] < kernel_.values.size(), id, "it must have one result");
        const ValueInfo& result = kernel_.values[in.results[0]];
        SmallVector<DType, 4> types;
        for (Value v : in.operands) types.push_back(type(v));
        if (const char* broken = broken_rule(in.op, function_of(in), result.type, types)) fail(id, broken);
        switch (in.op) {
            case Opcode::Const: return require(in.scalar().dtype == result.type, id, "the constant must have the result's dtype");
            case Opcode::Dim:
            case Opcode::Extent: return require(static_cast<int>(in.index()) < kernel_.rank, id, "the range has no such dimension");
            case Opcode::LocalDim:
            case Opcode::GroupDim:
                return require(static_cast<int>(in.index()) < kernel_.group_size.size(), id, "the groups have no such dimension");
            case Opcode::Array:
                return require(in.index() < kernel_.arrays.size() && kernel_.arrays[in.index()].value == in.results[0], id,
                               "it must be the value of its array");
            case Opcode::Param:
                return require(in.index() < kernel_.params.size() && kernel_.params[in.index()].value == in.results[0], id,
                               "it must be the value of its parameter");
            default: return require(!result.pointer, id, "the result must not be a pointer");
        }
    }

    void memory(InstrId id, const Instr& in, int count, Access need) const {
        require(in.operands.size() == count && in.regions.empty(), id, "wrong number of operands");
        const Instr& definition = kernel_.instrs[kernel_.values[in.operands[0]].def];
        if (definition.op == Opcode::Param) {
            const Param& p = kernel_.params[definition.index()];
            if ((static_cast<int>(p.access) & static_cast<int>(need)) != static_cast<int>(need)) {
                constexpr const char* uses[] = {"", "reading", "writing", "reading and writing"};
                fail(id, "parameter '" + p.name + "' is not declared for " + uses[static_cast<int>(need)]);
            }
        } else {
            require(definition.op == Opcode::Array, id, "the pointer must be a parameter or an array");
        }
        const DType element = type(in, 0);
        require(type(in, 1) == DType::Int64, id, "the index must be int64");
        for (int k = 2; k < count; ++k) require(type(in, k) == element, id, "the value must have the pointer's element dtype");
        if (in.op == Opcode::Store) return require(in.results.empty(), id, "it has no result");
        require(in.results.size() == 1 && in.results[0] < kernel_.values.size() && type(in.results[0]) == element &&
                    !kernel_.values[in.results[0]].pointer,
                id, "the result must have the pointer's element dtype");
        if (in.op == Opcode::Load) return;
        if (const char* broken = broken_atomic_rule(in.op == Opcode::Atomic ? in.atomic() : AtomicOp::Exchange, element)) fail(id, broken);
    }

    void resize(InstrId id, const Instr& in) const {
        require(in.operands.size() == 2 && in.results.size() == 1 && in.regions.empty(), id, "it takes an array and a count");
        const DType result = in.op == Opcode::TakeMemory ? DType::Int64 : DType::Bool;
        require(type(in, 1) == DType::Int64 && type(in.results[0]) == result, id,
                result == DType::Bool ? "the count is int64, the result bool" : "the count and the address are int64");
        const Instr& definition = kernel_.instrs[kernel_.values[in.operands[0]].def];
        require(definition.op == Opcode::Array && kernel_.arrays[definition.index()].count == 0, id, "the array has a size");
    }

    void report(InstrId id, const Instr& in) const {
        require(in.operands.size() >= 2 && in.results.empty() && in.regions.empty(), id, "it takes a pointer and words");
        const Instr& definition = kernel_.instrs[kernel_.values[in.operands[0]].def];
        require(definition.op == Opcode::Param && kernel_.params[definition.index()].access == Access::ReadWrite, id,
                "its pointer is a parameter for reading and writing");
        for (const Value v : in.operands) require(type(v) == DType::Int64, id, "its words are int64");
    }

    /// Region `k` of `id` after a check of its arguments' dtypes: `int64` in front if `indexed`, then those of operands `from`…
    void region(InstrId id, const Instr& in, int k, bool indexed, int from, int carried) {
        require(in.regions[k] < kernel_.regions.size(), id, "its region does not exist");
        require(!used_[in.regions[k]], id, "its region belongs to another instruction");
        used_[in.regions[k]] = true;
        const Region& r = kernel_.regions[in.regions[k]];
        const int first = indexed ? 1 : 0;
        require(r.args.size() == first + carried, id, "its region has the wrong number of arguments");
        for (int a = 0; a < r.args.size(); ++a) {
            require(r.args[a] < kernel_.values.size(), id, "an argument of its region does not exist");
            const ValueInfo& info = kernel_.values[r.args[a]];
            require(info.def == id && info.region == in.regions[k] && info.result == -1 - a && !info.pointer, id,
                    "the arguments of its region do not refer to it");
            const DType want = a < first ? DType::Int64 : type(in, from + a - first);
            require(info.type == want, id, "the arguments of its region must have the dtypes of index and initial values");
        }
        body(r, id);
    }

    void results_like(InstrId id, const Instr& in, int from) const {
        require(in.results.size() == in.operands.size() - from, id, "it must have one result for each initial value");
        for (int k = 0; k < in.results.size(); ++k)
            require(in.results[k] < kernel_.values.size() && type(in.results[k]) == type(in, from + k), id,
                    "results must have the dtypes of the initial values");
    }

    void for_loop(InstrId id, const Instr& in) {
        require(in.operands.size() >= 3 && in.regions.size() == 1, id, "a loop has lower, upper and step, and one region");
        for (int k = 0; k < 3; ++k) require(type(in, k) == DType::Int64, id, "lower, upper and step must be int64");
        results_like(id, in, 3);
        const bool lanes = in.loop_kind() == LoopKind::Lanes;
        if (lanes) {
            const Instr& step = kernel_.instrs[kernel_.values[in.operands[2]].def];
            require(step.op == Opcode::Const && step.scalar().i == 1, id, "the step of a lanes loop must be the constant 1");
            require(in.combines().size() == in.results.size(), id,
                    "a lanes loop carries nothing but reductions: it needs one combine for each result");
            for (int k = 0; k < in.combines().size(); ++k) combine(id, in.combines()[k], type(in.results[k]));
        } else {
            require(in.combines().empty(), id, "a serial loop has no combines");
        }
        require(in.loop_kind() != LoopKind::Parallel || in.results.empty(), id, "what threads share carries nothing");
        region(id, in, 0, true, 3, lanes ? 0 : in.results.size());
    }

    void combine(InstrId id, Combine c, DType t) const {
        const bool bits = is_integer(t) || t == DType::Bool;
        require(c <= Combine::Xor, id, "unknown combine");
        if (c >= Combine::And) require(bits, id, "and, or, xor combine integers or bool");
    }

    void if_else(InstrId id, const Instr& in) {
        require(in.operands.size() == 1 && in.regions.size() == 2, id, "it has a condition and two regions");
        require(type(in, 0) == DType::Bool, id, "the condition must be bool");
        for (Value v : in.results) require(v < kernel_.values.size() && !kernel_.values[v].pointer, id, "its results do not exist");
        for (int k = 0; k < 2; ++k) region(id, in, k, false, 0, 0);
    }

    void while_loop(InstrId id, const Instr& in) {
        require(in.regions.size() == 2, id, "it has a region for the condition and one for the body");
        results_like(id, in, 0);
        for (int k = 0; k < 2; ++k) region(id, in, k, false, 0, in.operands.size());
    }

    void yield(InstrId id, const Instr& in, InstrId owner_id) const {
        require(in.results.empty() && in.regions.empty(), id, "it has neither results nor regions");
        const Instr& owner = kernel_.instrs[owner_id];
        const bool condition = owner.op == Opcode::While && !seen_body(owner);
        if (condition)
            return require(in.operands.size() == 1 && type(in, 0) == DType::Bool, id, "the condition of while must yield one bool");
        require(in.operands.size() == owner.results.size(), id, "it must yield one value for each result of its owner");
        for (int k = 0; k < in.operands.size(); ++k)
            require(owner.results[k] < kernel_.values.size() && type(in, k) == type(owner.results[k]), id,
                    "yielded values must have the dtypes of its owner's results");
    }

    bool seen_body(const Instr& owner) const { return owner.regions[1] < used_.size() && used_[owner.regions[1]]; }

    const Kernel& kernel_;
    std::vector<bool> visible_, seen_, used_;
};

}  // namespace

void verify(const Kernel& kernel) { Verifier(kernel).run(); }

}  // namespace pardo::ir
