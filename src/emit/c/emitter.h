// src/emit/c/emitter.h: state of the translation of one kernel to text; family.cpp has its frame, emitter.cpp its instructions.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "emit/analysis/adjacent_stores.h"
#include "emit/analysis/shared_values.h"
#include "emit/analysis/uses.h"
#include "emit/c/family.h"
#include "emit/c/helpers.h"

namespace pardo::emit {

class CEmitter {
public:
    CEmitter(const ir::Kernel& kernel, const CFeatures& features, const CGeometry& geometry);
    CText run();

private:
    using Value = ir::Value;
    using Instr = ir::Instr;

    // family.cpp: the kernel function, which says which items there are, and the function of one item.
    std::string item_function();
    std::string load_function();
    std::string kernel_function();
    std::string head() const;
    std::string parameters(bool kernel) const;
    std::string arguments() const;
    std::string line_loops() const;
    std::string flat_loop() const;
    std::string tile_item() const;
    std::string range_item() const;
    std::string loop_rows() const;
    std::string team_items() const;
    std::string sub_group_word(std::string word) const;
    std::string decomposed(int dims, const std::string& counter) const;
    std::string shared_arrays() const;
    std::string item_count(int dims) const;
    bool uses_team() const { return geometry_.team > 1; }
    std::string wide_type() const;
    /// GPUs take the groups of every other kernel in reverse order: it begins with what the one before left in the cache.
    bool reversible() const { return !features_.cpu && kernel_.rank > 0 && !kernel_.in_groups(); }
    std::string group() const { return reversible() ? "group" : target_.group_id; }

    // emitter.cpp: the item's statements.
    void body(const ir::Region& region, const Instr* owner);
    void instr(const Instr& in);
    void yields(const Instr& in, const std::vector<std::string>& targets);
    void arithmetic(const Instr& in);
    std::string binary(const Instr& in, DType type);
    std::string call(const Instr& in, DType type);
    /// A mathematical function's name for a dtype: "fabs", "fabsf".
    std::string function(const std::string& name, DType dtype) const {
        return dtype == DType::Float64 ? name : name + target_.float_suffix;
    }
    std::string cast(const std::string& x, DType from, DType to);
    std::string bitcast(const std::string& x, DType from, DType to);
    std::string constant(const Scalar& value);
    bool masks(const Instr& in, int operand) const;
    std::string hidden(DType type, const std::string& x) const;
    std::string min_max(ir::Opcode op, DType type, const std::string& a, const std::string& b);
    std::string combine(ir::Combine combine, DType type, const std::string& a, const std::string& b);
    std::string wrapping(const char* sign, DType type, const std::string& a, const std::string& b);
    std::string rounded(DType type, std::string expression);
    void load(const Instr& in);
    std::string sine_and_cosine(const Instr& in, Value other, DType dtype);
    void store(const Instr& in);
    void store_together(const std::vector<ir::InstrId>& stores);
    void serial_loop(const Instr& in);
    const Instr* yield_of(const ir::Region& region) const;
    std::string start_of(const ir::Region& loop, int first, int k, Value initial) const;
    void while_loop(const Instr& in);
    void branch(const Instr& in);

    // groups.cpp: arrays of the kernel's own, atomics, barriers, and kernels in groups.
    enum class Memory : std::uint8_t { Global, Group, Private };
    Memory memory_of(Value pointer) const;
    void choose_names();
    std::string own_arrays(ir::Space space) const;
    std::string group_items() const;
    void refuse_barrier(const Instr& branch) const;
    void shuffle(const Instr& in);
    void fence(const Instr& in, bool before);
    void atomic(const Instr& in);
    void check_atomic(const Instr& in) const;
    std::string atomic_call(const Instr& in, DType type);
    std::string integer_atomic(const Instr& in, int op, DType bits, const std::string& place, const std::vector<std::string>& operands);
    void report(const Instr& in);
    void private_atomic(const Instr& in);
    std::string as_bits(DType type, const std::string& value) const;
    bool large_arrays() const { return group_bytes(kernel_) > features_.most_shared && *target_.large_shared; }

    // lanes.cpp: loops whose iterations a team shares, or that have several running values.
    struct Running {
        std::vector<std::string> names, identities;  // one a reduction
    };
    void lanes_loop(const Instr& in);
    Running running_values(const Instr& in, int unroll);
    bool counts_of_doubles(const Instr& in) const;
    void any_steps(const Instr& in, const Running& running, int unroll, Value key);
    void side_by_side(const std::string& index, int unroll, const std::function<void(const std::string& here)>& each);
    void part_of(const Instr& in, const std::string& index, Value root);
    void packed_steps(const Instr& in, const std::string& index, int unroll, Value key, const std::string& bar, const std::string& best);
    void fixed_steps(const Instr& in, const Running& running, int unroll);
    void lanes_step(const Instr& in, const std::string& index, const std::vector<std::string>& places);
    void lanes_result(const Instr& in, int k, const Running& running, int unroll);
    std::string first_index(const Instr& in) const;
    std::string kept_arrays() const;

    // Values and lines.
    /// More than a name or a number: not to be written twice.
    static bool is_expression(const std::string& text);
    /// In brackets, if operators might bind otherwise.
    static std::string wrapped(const std::string& text);
    void define(Value v, const std::string& expression, bool pure);
    void declare(Value v, const std::string& value);
    std::string named(Value v);
    std::string fresh(const char* prefix) { return prefix + std::to_string(counter_++); }
    const std::string& at(Value v) const { return text_[v]; }
    DType type(Value v) const { return kernel_.values[v].type; }
    void line(const std::string& text);
    void pragma_unroll() { out_ += std::string(target_.unroll) + "\n"; }

    const ir::Kernel& kernel_;
    const CFeatures& features_;
    const CGeometry& geometry_;
    const CTarget& target_;
    CHelpers helpers_;
    std::vector<std::string> text_;  // by value: a name or an expression
    const Uses uses_;
    const std::vector<bool> indices_;  // see index_values
    std::vector<std::string> names_;   // of the parameters, as values
    std::vector<std::string> param_names_, array_names_;
    const std::vector<bool> fixed_;     // see fixed_loads
    std::vector<DType> shared_;         // dtypes that team reductions exchange
    std::vector<const Instr*> owners_;  // region instructions around the current one
    std::vector<ir::InstrId> early_;    // loads that come before all computing of an item of the language
    std::map<Value, Value> sines_;      // see paired_sines
    AdjacentStores adjacent_;
    SharedValues shared_values_;
    std::vector<std::string> from_;  // by value: the name that it has already
    int stores_ = 0;                 // in the current region; loads must not move after them
    int depth_ = 1;
    int counter_ = 0;
    std::string out_;
};

}  // namespace pardo::emit
