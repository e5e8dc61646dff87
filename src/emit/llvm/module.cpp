// src/emit/llvm/module.cpp: Kernel -> llvm::Module: the function, its parameters, the loops over the box.
#include "emit/llvm/module.h"

#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <pardo/error.h>

#include "emit/llvm/arrays.h"
#include "emit/llvm/emitter.h"
#include "emit/llvm/fission.h"
#include "emit/llvm/loops/lanes.h"
#include "emit/llvm/loops/loop.h"
#include "emit/llvm/loops/serial.h"
#include "emit/llvm/math/cast.h"

namespace pardo::emit {

namespace {

void make_function(Codegen& g, const std::string& symbol) {
    llvm::Type* pointer = g.b.getPtrTy();
    auto* type = llvm::FunctionType::get(g.b.getVoidTy(), {pointer, pointer, pointer, pointer, pointer}, false);
    auto* function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, symbol, *g.module);
    set_attributes(function, g.target);
    for (unsigned k = 0; k < 4; ++k) {
        function->addParamAttr(k, llvm::Attribute::NoAlias);
        function->addParamAttr(k, llvm::Attribute::ReadOnly);
        function->addParamAttr(k, llvm::Attribute::NoUndef);
    }
    g.b.SetInsertPoint(llvm::BasicBlock::Create(g.b.getContext(), "entry", function));
}

/// Reads all slots once: pointers, scalars from the low end of their slot, extents and the box.
void load_parameters(Emitter& e) {
    auto slot = [&](unsigned argument, std::size_t k, llvm::Type* type) {
        return e.g.b.CreateAlignedLoad(type, e.g.b.CreateConstInBoundsGEP1_64(e.g.b.getInt64Ty(), e.g.function()->getArg(argument), k),
                                       llvm::Align(8));
    };
    for (std::size_t p = 0; p < e.source.kernel.params.size(); ++p) {
        const ir::Param& param = e.source.kernel.params[p];
        if (is_complex(param.type)) throw Error(ErrorCode::Internal, "emit_llvm: complex parameters must be lowered first");
        e.inputs.params.push_back(param.pointer ? slot(0, p, e.g.b.getPtrTy())
                                                : from_memory(e.g, slot(0, p, memory_element(e.g, param.type)), param.type));
        if (param.value != ir::no_value) e.values[param.value] = Lane{LaneShape::Uniform, e.inputs.params.back(), nullptr};
    }
    for (int d = 0; d < e.source.kernel.rank; ++d) {
        const auto at = static_cast<std::size_t>(d);
        e.inputs.extents.push_back(slot(1, at, e.g.b.getInt64Ty()));
        e.inputs.begin.push_back(slot(2, at, e.g.b.getInt64Ty()));
        e.inputs.end.push_back(slot(3, at, e.g.b.getInt64Ty()));
    }
    e.memory.scratch = e.g.b.CreateAlloca(e.g.b.getInt64Ty());
    e.g.b.CreateStore(i64(e.g, 0), e.memory.scratch);
}

/// The last dimension, whose items are the lanes.
void emit_row(Emitter& e, const LaneContext& here) {
    const ir::Region& body = e.source.kernel.body;
    LanePlan plan = lane_plan(e.source, e.g.target, body, 0);
    plan.items = true;
    hoist(e, here, body);
    plan.streams = stream_stores(e.values, here, body, plan.lanes);
    const auto last = static_cast<std::size_t>(e.source.kernel.rank - 1);
    LlvmValues none;
    lane_loop(e.memory, here, e.inputs.begin[last], e.inputs.end[last], plan, none,
              [&](const LaneContext& inside, llvm::Value* index, int, LlvmValues&) {
                  Item item = *here.item;
                  item.dims[last] = index;
                  LaneContext at = inside;
                  at.item = &item;
                  e.region(at, body);
              });
}

/// The loops over the box, outermost first; nothing runs if one is empty.
void emit_box(Emitter& e, const LaneContext& here, int dimension) {
    const int rank = e.source.kernel.rank;
    if (dimension == rank) return e.region(here, e.source.kernel.body);
    const auto d = static_cast<std::size_t>(dimension);
    llvm::Value *begin = e.inputs.begin[d], *end = e.inputs.end[d];
    if (e.source.info.item_lanes && dimension == rank - 1) {
        llvm::BasicBlock *row = block(e.g, "row"), *done = block(e.g, "row.done");
        e.g.b.CreateCondBr(e.g.b.CreateICmpSLT(begin, end), row, done);
        e.g.b.SetInsertPoint(row);
        emit_row(e, here);
        e.g.b.CreateBr(done);
        e.g.b.SetInsertPoint(done);
        return;
    }
    LlvmValues none;
    const auto body = [&](llvm::Value* index, int, LlvmValues&) {
        Item item = *here.item;
        item.dims[d] = index;
        LaneContext inside = here;
        inside.item = &item;
        emit_box(e, inside, dimension + 1);
    };
    serial_loop(e.g, begin, end, i64(e.g, 1), none, body, true);
}

}  // namespace

std::unique_ptr<llvm::Module> emit_llvm(const ir::Kernel& kernel, llvm::LLVMContext& context, const LlvmTarget& target,
                                        const std::string& symbol) {
    Emitter e(kernel, context, target, symbol);
    make_function(e.g, symbol);
    load_parameters(e);
    for (std::size_t k = 0; k < kernel.arrays.size(); ++k) e.inputs.arrays.push_back(make_array(e.memory, k));
    Item item;
    item.dims.resize(static_cast<std::size_t>(kernel.rank));
    LaneContext here;
    here.item = &item;
    kernel.in_groups() ? emit_groups(e, here) : emit_box(e, here, 0);
    fence_streams(e.g, e.source);
    release(e.memory);
    e.g.b.CreateRetVoid();
    check_stack(e.memory);
#ifndef NDEBUG
    std::string problem;
    llvm::raw_string_ostream stream(problem);
    if (llvm::verifyModule(*e.g.module, &stream)) throw Error(ErrorCode::Internal, "emit_llvm: " + kernel.name + ": " + problem);
#endif
    return std::move(e.g.module);
}

}  // namespace pardo::emit
