// src/capi/work.h: native code with the arrays that it uses, as a queue runs it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <pardo/c_api.h>
#include <pardo/event.h>

#include "base/ref.h"
#include "base/text.h"
#include "device/device.h"
#include "graph/node.h"

namespace pardo::capi {

/// A function of native code and what it keeps, which is destroyed with this: once, whatever becomes of the work.
class NativeFunction : public RefCounted<NativeFunction> {
public:
    NativeFunction(pardo_work_fn fn, void* user, void (*destroy)(void*)) : fn_(fn), user_(user), destroy_(destroy) {}
    ~NativeFunction() {
        if (destroy_) destroy_(user_);
    }
    void* user() const noexcept { return user_; }
    /// Throws what the function reports, as "<name>: …".
    void call(const pardo_work& work, void** done, const std::string& name) const;

private:
    pardo_work_fn fn_;
    void* user_;
    void (*destroy_)(void*);
};

struct NativeUse {
    Ref<graph::Node> node;
    device::Access access;
};

/// What a submission says besides its uses.
struct NativeOptions {
    Text name;
    double cost_ns = 0;  // 0: unknown
    std::vector<Event> after;
    std::size_t scratch_bytes = 0;
};
/// Throws Value as "<function>: …" of options that are none.
NativeOptions options_from(const char* function, const pardo_submit_options& given);

/// Computes what the uses need, and hands the function over.
Event submit_native(const Ref<device::Queue>& queue, std::vector<NativeUse> uses, const Ref<NativeFunction>& function,
                    const NativeOptions& options);

}  // namespace pardo::capi
