// src/emit/llvm/module.cpp: Kernel -> llvm::Module: the function, its parameters, the loops over the box.
#include "emit/llvm/module.h"

#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <pardo/error.h>

#include <algorithm>

#include "emit/llvm/emitter.h"
#include "emit/llvm/math/cast.h"

namespace pardo::emit {

Emitter::Emitter(const ir::Kernel& kernel, llvm::LLVMContext& context, const LlvmTarget& target, const std::string& symbol)
    : kernel_(kernel),
      fission_(kernel.in_groups() ? split_at_barriers(kernel) : Fission()),
      info_(lanes_of(kernel, fission_)),
      g_(context, kernel.name, target, kernel.fast_math),
      symbol_(symbol) {
    values_.resize(kernel.values.size());
    hoisted_.resize(kernel.instrs.size());
    grouped_.resize(kernel.instrs.size());
    store_groups_.resize(kernel.instrs.size(), ~0u);
    dims_.resize(static_cast<std::size_t>(kernel.rank));
}

void Emitter::make_function() {
    llvm::Type* pointer = g_.b.getPtrTy();
    auto* type = llvm::FunctionType::get(g_.b.getVoidTy(), {pointer, pointer, pointer, pointer, pointer}, false);
    auto* function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, symbol_, *g_.module);
    set_attributes(function, g_.target);
    for (unsigned k = 0; k < 4; ++k) {
        function->addParamAttr(k, llvm::Attribute::NoAlias);
        function->addParamAttr(k, llvm::Attribute::ReadOnly);
        function->addParamAttr(k, llvm::Attribute::NoUndef);
    }
    g_.b.SetInsertPoint(llvm::BasicBlock::Create(g_.b.getContext(), "entry", function));
}

/// Reads all slots once: pointers, scalars from the low end of their slot, extents and the box.
void Emitter::load_parameters() {
    auto slot = [&](unsigned argument, std::size_t k, llvm::Type* type) {
        return g_.b.CreateAlignedLoad(type, g_.b.CreateConstInBoundsGEP1_64(g_.b.getInt64Ty(), g_.function()->getArg(argument), k),
                                      llvm::Align(8));
    };
    for (std::size_t p = 0; p < kernel_.params.size(); ++p) {
        const ir::Param& param = kernel_.params[p];
        if (is_complex(param.type)) throw Error(ErrorCode::Internal, "emit_llvm: complex parameters must be lowered first");
        params_.push_back(param.pointer ? slot(0, p, g_.b.getPtrTy())
                                        : from_memory(g_, slot(0, p, memory_element(g_, param.type)), param.type));
        if (param.value != ir::no_value) values_[param.value] = Lane{LaneShape::Uniform, params_.back(), nullptr};
    }
    for (int d = 0; d < kernel_.rank; ++d) {
        const auto at = static_cast<std::size_t>(d);
        extents_.push_back(slot(1, at, g_.b.getInt64Ty()));
        begin_.push_back(slot(2, at, g_.b.getInt64Ty()));
        end_.push_back(slot(3, at, g_.b.getInt64Ty()));
    }
    scratch_ = g_.b.CreateAlloca(g_.b.getInt64Ty());
    g_.b.CreateStore(i64(g_, 0), scratch_);
}

/// The loops over the box, outermost first; nothing runs if one is empty.
void Emitter::emit_box(int dimension) {
    if (dimension == kernel_.rank) return region(kernel_.body);
    const auto d = static_cast<std::size_t>(dimension);
    if (info_.item_lanes && dimension == kernel_.rank - 1) {
        llvm::BasicBlock *row = block(g_, "row"), *done = block(g_, "row.done");
        g_.b.CreateCondBr(g_.b.CreateICmpSLT(begin_[d], end_[d]), row, done);
        g_.b.SetInsertPoint(row);
        next_loop_of_items_ = true;
        emit_item_lanes();
        g_.b.CreateBr(done);
        g_.b.SetInsertPoint(done);
        return;
    }
    LlvmValues none;
    next_loop_of_items_ = true;
    serial_loop(begin_[d], end_[d], i64(g_, 1), none, [&](llvm::Value* index, int, LlvmValues&) {
        dims_[d] = index;
        emit_box(dimension + 1);
    });
}

/// Stores past the caches become visible to other threads in no order of their own.
void Emitter::fence_streams() {
#if defined(__x86_64__)
    if (std::ranges::any_of(kernel_.params, [](const ir::Param& param) { return param.streaming; }))
        g_.b.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {});
#endif
}

std::unique_ptr<llvm::Module> Emitter::run() {
    make_function();
    load_parameters();
    make_alias_scopes();
    make_arrays();
    kernel_.in_groups() ? emit_groups(0) : emit_box(0);
    fence_streams();
    release();
    g_.b.CreateRetVoid();
    check_stack();
#ifndef NDEBUG
    std::string problem;
    llvm::raw_string_ostream stream(problem);
    if (llvm::verifyModule(*g_.module, &stream)) throw Error(ErrorCode::Internal, "emit_llvm: " + kernel_.name + ": " + problem);
#endif
    return std::move(g_.module);
}

std::unique_ptr<llvm::Module> emit_llvm(const ir::Kernel& kernel, llvm::LLVMContext& context, const LlvmTarget& target,
                                        const std::string& symbol) {
    return Emitter(kernel, context, target, symbol).run();
}

}  // namespace pardo::emit
