// src/emit/llvm/emitter.h: the emitter's state, shared by the files of this folder; only they include it.
#pragma once

#include <string>
#include <vector>

#include "emit/analysis/fission.h"
#include "emit/analysis/lanes.h"
#include "emit/llvm/codegen.h"
#include "emit/llvm/module.h"
#include "ir/ir.h"

namespace pardo::emit {

/// A value as emitted: `v` is the scalar, the base, or the vector; `step` belongs to Affine and Strided.
struct Lane {
    LaneShape::Kind kind = LaneShape::Uniform;
    llvm::Value* v = nullptr;
    llvm::Value* step = nullptr;
};

/// Bytes that arrays of a group, private arrays and what items keep between barriers may take: a part of what the smallest stacks have.
inline constexpr std::int64_t stack_limit = 256 << 10;

/// Emits one kernel. Scalar code while `lanes_` is 1, else vectors of `lanes_` elements; `mask_` says which lanes are active (null: all).
class Emitter {
public:
    Emitter(const ir::Kernel& kernel, llvm::LLVMContext& context, const LlvmTarget& target, const std::string& symbol);
    std::unique_ptr<llvm::Module> run();

private:
    // module.cpp: the function, its parameters, the loops over the box.
    void make_function();
    void fence_streams();
    void load_parameters();
    void emit_box(int dimension);
    void emit_item_lanes();

    // fission.cpp: kernels in groups, step by step.
    using ItemBody = llvm::function_ref<void()>;
    void emit_groups(int dimension);
    void emit_steps(const ir::Region& r, std::size_t list);
    void emit_control(const ir::Instr& in);
    void emit_group_if(const ir::Instr& in);
    void emit_group_for(const ir::Instr& in);
    void emit_group_while(const ir::Instr& in);
    void emit_items(const ir::Region& r, const Step& step);
    void item_rows(int dimension, ItemBody row);
    void item_lanes(int lanes, ItemBody body);
    void items_body(const ir::Region& r, const Step& step, ir::InstrId taken);
    void at_positions(const ir::Region& r, const Step& step, ir::InstrId taken = ~0u);
    int item_lane_count(const ir::Region& r, const Step& step) const;
    llvm::Value* slot(ir::Value v);
    llvm::Value* shared_slot(ir::Value v);
    void reset_item();
    // guard.cpp
    struct Bound {  // index `op` limit
        ir::Opcode op;
        ir::Value index, limit;
    };
    struct Guard {
        ir::InstrId branch = ~0u;
        std::vector<Bound> bounds;
    };
    bool index_known(ir::Value v, std::uint32_t part) const;
    llvm::Value* emit_index(ir::Value v);
    bool find_bounds(ir::Value condition, std::uint32_t part, std::vector<Bound>& bounds) const;
    Guard find_guard(const ir::Region& r, const Step& step) const;
    void guarded_lanes(const Guard& guard, int lanes, ItemBody body);

    // loops/loop.cpp: regions and loops.
    struct LanePlan {
        int lanes = 1;
        int unroll = 1;                    // vectors an iteration of the main loop
        bool prefetch = false;             // library calls keep the processor from running ahead to the next loads
        std::vector<ir::InstrId> streams;  // stores past the caches: lanes start where the first one's address is aligned
    };
    using LaneBody = llvm::function_ref<void(llvm::Value* index, int copy, LlvmValues& state)>;
    /// Makes fresh state, and joins a block's state into the totals: keeps long float sums accurate.
    struct Fold {
        llvm::function_ref<LlvmValues()> fresh;
        llvm::function_ref<void(LlvmValues& totals, const LlvmValues& block)> join;
    };
    bool calls_library(const ir::Instr& in) const;
    bool is_formula(const ir::Region& body) const;
    LanePlan lane_plan(const ir::Region& body, int accumulators) const;
    /// Runs [lower, upper), not empty, with lanes: whole vectors first, then what is left under a mask (loops/lanes.cpp).
    void lane_loop(llvm::Value* lower, llvm::Value* upper, const LanePlan& plan, LlvmValues& state, LaneBody body,
                   const Fold* fold = nullptr);
    llvm::Value* tail_mask(llvm::Value* count);
    llvm::IntegerType* lane_number_type();
    llvm::Constant* lane_numbers(std::int64_t step);
    bool is_lane_index(ir::Value v) const;
    bool base_known(ir::Value v) const;
    llvm::Value* base_at(ir::Value v, llvm::Value* index);  // an affine index's base for a given value of the lane index
    llvm::Value* misalignment(ir::InstrId store, llvm::Value* index);
    llvm::Value* misalignment(llvm::Value* address, std::int64_t bytes);
    bool made_from(ir::Value index, ir::Value from) const;
    std::vector<ir::InstrId> stream_stores(const ir::Region& body, int lanes) const;
    void hoist(const ir::Region& body);
    void region(const ir::Region& r);
    void instruction(ir::InstrId id);
    void emit_if(ir::InstrId id, const ir::Instr& in);
    void emit_masked_if(const ir::Instr& in);
    void emit_for(ir::InstrId id, const ir::Instr& in);
    void emit_masked_for(const ir::Instr& in);
    // loops/apart.cpp: loops that threads share.
    bool takes_from_outside(const ir::Region& r, const std::vector<ir::Value>& own, std::vector<ir::Value>& values) const;
    llvm::Value* picoseconds(const ir::Region& r);
    bool emit_apart_for(const ir::Instr& in);
    void count_arrays(const ir::Region& r, std::vector<std::uint32_t>& uses) const;
    std::vector<ir::Value> arrays_inside(const ir::Region& r) const;
    struct LastValues {  // of a loop that lanes leave one after the other
        struct Kept {
            int result;
            llvm::PHINode* before;
            llvm::Value* now;
        };
        std::vector<Kept> kept;
        void close(llvm::BasicBlock* latch);
        llvm::Value* of(int k, llvm::Value* otherwise) const;
    };
    struct Parted {
        ir::Value common, varying;
    };
    Parted part(ir::Value condition) const;
    LastValues last_values(const ir::Instr& in, const ir::Region& body, int first_arg, int first_initial, llvm::BasicBlock* before,
                           llvm::Value* mask);
    void emit_while(ir::InstrId id, const ir::Instr& in);
    void emit_lanes_for(ir::InstrId id, const ir::Instr& in);
    void emit_serial_lanes_for(ir::InstrId id, const ir::Instr& in);
    /// for (i = lower; i < upper (or >, by the sign of step); i += step), values carried in `state`.
    void serial_loop(llvm::Value* lower, llvm::Value* upper, llvm::Value* step, LlvmValues& state, LaneBody body);
    const ir::Instr& yield(const ir::Region& r) const { return kernel_.instrs[r.body.back()]; }
    enum class Unroll { Never, Known, May };  // Known: only if the trip count is known
    void finish_loop(llvm::BranchInst* latch, Unroll unroll, bool items = false);
    bool pure(const ir::Instr& in) const;
    bool cheap_load(const ir::Instr& in) const;
    bool cheap_region(const ir::Region& r) const;

    // Reductions (reduce.cpp).
    llvm::Value* identity(ir::Combine c, DType t, int lanes);
    llvm::Value* combine(ir::Combine c, DType t, llvm::Value* a, llvm::Value* b);
    /// A step of a float minimum or maximum that ignores NaN in `x`; the caller keeps a flag for it.
    llvm::Value* combine_ordered(ir::Combine c, llvm::Value* acc, llvm::Value* x);
    llvm::Value* across_lanes(ir::Combine c, DType t, llvm::Value* v);

    // value.cpp: values and their widening.
    llvm::Value* scalar(ir::Value v);                // the scalar or the base
    llvm::Value* vector(ir::Value v);                // one value a lane; the scalar in scalar code
    llvm::Value* shaped(ir::Value v, LaneShape as);  // as another value's shape wants it
    llvm::Value* vector_of(const Lane& lane);
    void define(ir::Value v, llvm::Value* value);
    void define(ir::Value v, const Lane& lane) { values_[v] = lane; }
    DType type(ir::Value v) const { return kernel_.values[v].type; }
    llvm::Value* active();  // the mask, all ones if null
    llvm::Value* constant(DType t, const Scalar& s);

    // arithmetic.cpp
    void arithmetic(const ir::Instr& in);
    bool affine_arithmetic(const ir::Instr& in);
    bool is_small_index(ir::Value v) const;
    llvm::Value* compare_by_lane(const ir::Instr& in);

    // memory.cpp
    void load(ir::InstrId id, const ir::Instr& in);
    void store(ir::InstrId id, const ir::Instr& in);
    void stream(llvm::Value* value, llvm::Value* at, ir::Value pointer, bool always, llvm::function_ref<void()> otherwise);
    llvm::Value* address(ir::Value pointer, llvm::Value* index);
    llvm::Value* memory(ir::Value pointer);
    void resize(const ir::Instr& in);
    void take_memory(const ir::Instr& in);
    llvm::FunctionCallee own_memory_function();
    void release();
    /// Where the lanes find an element: its index, or that within all items' private arrays; `step` if it is a small constant, else 0.
    struct Element {
        Lane index;
        std::int64_t step = 0;
    };
    Element element_of(const ir::Instr& in);
    llvm::AllocaInst* allocate(llvm::Type* type, std::int64_t count, std::int64_t bytes, const char* name);
    void make_arrays();
    llvm::Value* make_array(std::size_t k);
    void check_stack() const;
    std::int64_t lane_bytes() const;
    int most_lanes() const;
    // atomic.cpp
    struct Update {  // one Atomic or CompareExchange
        const ir::Instr& in;
        DType type;
        bool plain;  // nothing else uses the memory while it runs
    };
    void atomic(const ir::Instr& in);
    void fence(const ir::Instr& in);
    // checks.cpp: what is done where an index is in range, and what is reported where it is not.
    bool is_check(const ir::Instr& in) const;
    void emit_check(const ir::Instr& in);
    void report(const ir::Instr& in);
    llvm::Function* report_function(std::size_t words);
    llvm::MDNode* likely();
    llvm::Value* update(const Update& u, llvm::Value* at, llvm::ArrayRef<llvm::Value*> values);
    llvm::Value* updated(const Update& u, llvm::Value* old, llvm::ArrayRef<llvm::Value*> values);
    llvm::Value* update_in_loop(const Update& u, llvm::Value* at, llvm::ArrayRef<llvm::Value*> values);
    bool update_once(const Update& u, llvm::Value* index, llvm::Value* value);
    bool update_running(const Update& u, llvm::Value* index, llvm::Value* value);
    void update_by_lane(const Update& u, const Lane& index, llvm::ArrayRef<llvm::Value*> values);
    llvm::Value* updates_by_lane(const Update& u, const Lane& index, llvm::ArrayRef<llvm::Value*> values);
    llvm::Value* load_vector(ir::Value pointer, llvm::Value* index, int step, llvm::Value* ahead);
    void prefetch(llvm::Value* address);
    llvm::Value* elements_ahead(ir::Value pointer, ir::Value index, int step);
    llvm::Value* load_strided(ir::Value pointer, llvm::Value* base, std::int64_t step);
    void store_strided(ir::Value pointer, llvm::Value* base, std::int64_t step, llvm::Value* value);
    llvm::Value* gather(ir::Value pointer, const Lane& index);
    void scatter(ir::Value pointer, const Lane& index, llvm::Value* value);
    void store_last(ir::Value pointer, llvm::Value* index, llvm::Value* value);
    llvm::Value* reverse(llvm::Value* v);
    // groups.cpp: accesses to all fields of small records (complex numbers, x, y, z) at once.
    struct Group {
        std::int64_t step = 0;
        std::vector<ir::InstrId> members;   // in program order
        std::vector<std::int64_t> offsets;  // of each, from the record's first field
    };
    Group find_group(ir::InstrId first) const;
    llvm::Value* group_address(const Group& group, std::size_t member, llvm::Value* index);
    bool load_group(ir::InstrId id);
    bool store_group(ir::InstrId id, llvm::Value* value);
    // rows.cpp: rows that lanes walk along.
    struct Rows {
        std::vector<ir::InstrId> loads;
        std::vector<LlvmValues> turned;  // of each load, what lanes read in one iteration of a block
        int iteration = 0;
    };
    std::vector<ir::InstrId> row_loads(ir::InstrId loop) const;
    llvm::Value* row_elements(ir::InstrId id, ir::Value pointer, const Lane& index);
    void turn(LlvmValues& rows);
    llvm::Value* blocks_of_rows(const std::vector<ir::InstrId>& loads, llvm::Value* lower, llvm::Value* upper, LlvmValues& state,
                                LaneBody body);
    bool hardware_gather(llvm::Type* t) const;
    llvm::Value* lane_index(const Lane& index, int lane);
    llvm::Align alignment(DType t) const;
    void annotate(llvm::Instruction* access, ir::Value pointer);
    void make_alias_scopes();
    bool is_param(ir::Value pointer) const { return kernel_.instrs[kernel_.values[pointer].def].op == ir::Opcode::Param; }
    std::uint32_t param_of(ir::Value pointer) const { return kernel_.instrs[kernel_.values[pointer].def].index; }
    /// An array whose size is known when the kernel runs.
    bool is_sized(ir::Value pointer) const { return !is_param(pointer) && kernel_.arrays[param_of(pointer)].count == 0; }
    /// Numbers parameters, then arrays.
    std::size_t memory_of(ir::Value pointer) const { return param_of(pointer) + (is_param(pointer) ? 0 : kernel_.params.size()); }

    const ir::Kernel& kernel_;
    Fission fission_;  // of kernels in groups
    LaneInfo info_;
    Codegen g_;
    std::string symbol_;

    int lanes_ = 1;
    llvm::Value* mask_ = nullptr;
    bool prefetch_ = false;                // loads of neighbours ask for what comes a kilobyte later
    bool divergent_ = false;               // inside a region that not all items of the vector run
    std::vector<ir::InstrId> streaming_;   // stores that bypass the caches now
    ir::Value lane_index_ = ir::no_value;  // the counter of the loop whose iterations are the lanes
    std::vector<ir::Value> around_;        // counters of the serial loops around; no_value for a while loop
    std::vector<Lane> values_;
    std::vector<bool> hoisted_;
    std::vector<llvm::Value*> grouped_;      // one an instruction: what a Load of a group found, what a Store of one waits with
    std::vector<ir::InstrId> store_groups_;  // one an instruction: the first Store of its open group
    Rows* rows_ = nullptr;                   // of the loop around, in its blocks
    const ir::Region* region_ = nullptr;     // being emitted, and how far
    std::size_t position_ = 0;
    int loops_ = 0;                    // made so far
    bool next_loop_of_items_ = false;  // the next serial_loop or lane_loop goes over the box
    LlvmValues params_, extents_, begin_, end_, dims_;
    std::vector<llvm::MDNode*> scope_lists_, noalias_lists_;
    llvm::Value* scratch_ = nullptr;              // where lanes that are off read and write
    LlvmValues arrays_, groups_, bases_, local_;  // arrays' memory; the group's index, its first item's, the item's index in it
    llvm::Value* item_ = nullptr;                 // number of the item (lane 0's) in its group
    std::int64_t stack_bytes_ = 0;                // allocated so far
    struct Iterations {                           // a loop of a group
        ir::Value counter = ir::no_value;
        llvm::Value* step = nullptr;
    };
    Iterations iterations_;            // the innermost one around
    std::vector<llvm::Value*> slots_;  // one a value
};

}  // namespace pardo::emit
