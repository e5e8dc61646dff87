// pardo/native.hpp: pardo/c_api.h for C++17 and later: handles that release themselves, exceptions, typed views, work of lambdas.
// Header-only.
//
// No exception crosses the table: those of work functions become the failure of their event. No function here needs the GIL.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#if __has_include(<version>)
#include <version>
#endif
#ifdef __cpp_lib_span
#include <span>
#endif
#ifdef __cpp_lib_mdspan
#include <mdspan>
#endif

#include <pardo/native/handles.hpp>
#include <pardo/native/program.hpp>

namespace pardo {
namespace native PARDO_NATIVE_HIDDEN {

// --- views -------------------------------------------------------------------------------------------------------------------------------

/// Elements of an array where a function may touch them: v(i, j); a plain range where they are row-major.
template <class T, int N> class view {
public:
    /// Made by work::elements.
    view(T* data, const std::int64_t* shape, const std::int64_t* strides, bool rows) noexcept : data_(data), rows_(rows) {
        for (int d = 0; d < N; ++d) {
            shape_[d] = shape[d];
            strides_[d] = strides[d];
        }
    }
    T* data() const noexcept { return data_; }                                                 ///< the first element
    std::int64_t extent(int d) const noexcept { return shape_[static_cast<std::size_t>(d)]; }  ///< along a dimension
    /// In elements.
    std::int64_t stride(int d) const noexcept { return strides_[static_cast<std::size_t>(d)]; }
    /// How many elements.
    std::int64_t size() const noexcept {
        std::int64_t n = 1;
        for (int d = 0; d < N; ++d) n *= extent(d);
        return n;
    }
    /// The element at these indices.
    template <class... I> T& operator()(I... i) const noexcept {
        static_assert(sizeof...(I) == N, "one index an axis");
        std::int64_t at = 0;
        int d = 0;
        ((at += static_cast<std::int64_t>(i) * stride(d++)), ...);
        return data_[at];
    }
    /// The element of one dimension.
    T& operator[](std::int64_t i) const noexcept {
        static_assert(N == 1, "v(i, j) takes several indices");
        return data_[i * stride(0)];
    }
    /// The elements in their order; throws where there are gaps, or another order.
    T* begin() const {
        if (!rows_) throw error(PARDO_E_VALUE, "view: the elements are to be row-major and without gaps for a range; v(i, j) takes all");
        return data_;
    }
    T* end() const { return begin() + size(); }  ///< after the last one
#ifdef __cpp_lib_span
    /// The elements in their order; throws as begin().
    operator std::span<T>() const { return {begin(), static_cast<std::size_t>(size())}; }
#endif
#ifdef __cpp_lib_mdspan
    /// The same elements, whatever their strides.
    auto mdspan() const {
        using extents = std::dextents<std::int64_t, N>;
        return std::mdspan<T, extents, std::layout_stride>(data_, std::layout_stride::mapping<extents>(extents(shape_), strides_));
    }
#endif

private:
    T* data_;
    bool rows_;
    std::array<std::int64_t, N> shape_{}, strides_{};
};

// --- work --------------------------------------------------------------------------------------------------------------------------------

/// Calls f(begin, end), or f(i) for each, on the cores of a CPU's queue. Throws the first exception of f's when all parts have ended.
template <class F> void parallel_for(pardo_queue on, std::int64_t n, std::int64_t grain, F&& f) {
    struct Parts {
        F& f;
        std::atomic<bool> failed{false};
        std::exception_ptr failure;
    } parts{f, {}, {}};
    const auto call = [](std::int64_t begin, std::int64_t end, void* user) noexcept {
        auto& own = *static_cast<Parts*>(user);
        try {
            if constexpr (std::is_invocable_v<F&, std::int64_t, std::int64_t>) {
                own.f(begin, end);
            } else {
                for (std::int64_t i = begin; i < end; ++i) own.f(i);
            }
        } catch (...) {
            if (!own.failed.exchange(true)) own.failure = std::current_exception();
        }
    };
    check(api().parallel_for(on, n, grain, call, &parts));
    if (parts.failure) std::rethrow_exception(parts.failure);
}

/// The same for languages without lambdas.
inline void parallel_for(pardo_queue on, std::int64_t n, std::int64_t grain, void (*f)(std::int64_t begin, std::int64_t end, void* user),
                         void* user) {
    parallel_for(on, n, grain, [=](std::int64_t begin, std::int64_t end) { f(begin, end, user); });
}

/// What a work function gets: the pardo_work of its call, typed.
class work {
public:
    work(const pardo_work* given, void** done) noexcept : given_(given), done_(done) {}  ///< made by submit
    const pardo_work* operator->() const noexcept { return given_; }                     ///< what the table hands over
    const pardo_work* get() const noexcept { return given_; }                            ///< the same
    bool on_cpu() const noexcept { return given_->backend == PARDO_CPU; }                ///< the queue's device is the CPU
    bool on_opencl() const noexcept { return given_->backend == PARDO_OPENCL; }          ///< of OpenCL
    bool on_cuda() const noexcept { return given_->backend == PARDO_CUDA; }              ///< of CUDA
    /// CUstream or cl_command_queue.
    template <class S> S stream() const noexcept { return reinterpret_cast<S>(given_->stream); }
    /// Facts of the array of a use.
    const pardo_array_info& info(std::uint32_t use) const {
        if (use >= given_->n) throw error(PARDO_E_INDEX, "work: use " + std::to_string(use) + " of " + std::to_string(given_->n));
        return given_->info[use];
    }
    std::int64_t extent(std::uint32_t use, int d) const { return info(use).shape[d]; }  ///< of its array
    /// Where a use's first element is: on CUDA the device's address, on the CPU the host's.
    template <class T> T* data(std::uint32_t use) const {
        const pardo_array_info& facts = info(use);
        if constexpr (!std::is_void_v<T>) {
            if (facts.dtype != dtype_of<T>())
                throw error(PARDO_E_TYPE, "work: use " + std::to_string(use) + " is of " + dtype_name(facts.dtype) + ", not of " +
                                              dtype_name(dtype_of<T>()));
        }
        void* const address = given_->memory[use].address;
        if (!address && facts.count > 0) throw error(PARDO_E_DEVICE, "work: this memory has no address; opencl_set_array takes it");
        return static_cast<T*>(address);
    }
    /// The elements of a use, on the CPU.
    template <class T, int N> view<T, N> elements(std::uint32_t use) const {
        if (!on_cpu()) throw error(PARDO_E_DEVICE, "work: the host cannot touch elements of another device");
        const pardo_array_info& facts = info(use);
        if (facts.ndim != N)
            throw error(PARDO_E_VALUE, "work: use " + std::to_string(use) + " has " + std::to_string(facts.ndim) + " dimensions, not " +
                                           std::to_string(N));
        return {data<T>(use), facts.shape, facts.strides, (facts.flags & PARDO_C_CONTIGUOUS) != 0};
    }
    void* scratch() const noexcept { return given_->memory[given_->n].address; }  ///< memory of options::scratch_bytes
    /// On the cores of the work's queue.
    template <class F> void parallel_for(std::int64_t n, std::int64_t grain, F&& f) const {
        native::parallel_for(given_->queue, n, grain, std::forward<F>(f));
    }
    /// Argument `index` of a cl_kernel is a use; use n: the scratch memory.
    void set_array(void* kernel, std::uint32_t index, std::size_t use) const { check(api().opencl_set_array(given_, kernel, index, use)); }
    /// Where a CUevent or cl_event goes that is complete when all that was enqueued is; pardo takes it over.
    void** done() const noexcept { return done_; }

private:
    const pardo_work* given_;
    void** done_;
};

/// A work function and a copy of its parameters, for languages without lambdas: submit(q, uses, n, with_value(f, parameters)).
template <class T> struct bound {
    int (*f)(const work&, const T&) = nullptr;                   ///< the function
    T value{};                                                   ///< its parameters
    int operator()(const work& w) const { return f(w, value); }  ///< the call
};
/// A function with its parameters.
template <class T> bound<T> with_value(int (*f)(const work&, const T&), const T& value) { return {f, value}; }

/// How an array is used: work reads it.
inline pardo_use read(const array& x) noexcept { return {x.get(), PARDO_READ}; }
/// It writes some elements; (discard) all, whatever they were; (update) it reads them too.
inline pardo_use write(const array& x) noexcept { return {x.get(), PARDO_WRITE}; }
/// It writes all elements, whatever they were.
inline pardo_use discard(const array& x) noexcept { return {x.get(), PARDO_WRITE | PARDO_DISCARD}; }
inline pardo_use update(const array& x) noexcept { return {x.get(), PARDO_READ | PARDO_WRITE}; }  ///< it reads elements and writes them

/// What submit and record take besides.
struct options {
    const char* name = nullptr;     ///< in messages, profiles, pp.explain
    double cost_ns = 0;             ///< on one core; up to 20,000: at once on the CPU, if nothing is waited for
    std::vector<event> after = {};  ///< what it needs
    std::size_t scratch_bytes = 0;  ///< memory of the device for the work alone
};

namespace detail {

/// The C structure, whose list of events lives as long as this does.
struct c_options : pardo_submit_options {
    c_options(const options& o, void (*with_destroy)(void*)) : pardo_submit_options{}, events(raw(o.after)) {
        size = sizeof(pardo_submit_options);
        name = o.name;
        cost_ns = o.cost_ns;
        after = events.data();
        n_after = events.size();
        scratch_bytes = o.scratch_bytes;
        destroy = with_destroy;
    }
    std::vector<pardo_event> events;
};

template <class F> int call(const pardo_work* w, void* user, void** done) noexcept {
    return guarded([&] { return (*static_cast<F*>(user))(work(w, done)); });
}
template <class F> void destroy(void* user) noexcept { delete static_cast<F*>(user); }

}  // namespace detail

/// Calls f(const work&) once, when its turn has come, perhaps later and on another thread, and destroys it once. f gives nothing, or a
/// status of its own; what it throws is the failure of the event.
template <class F> event submit(const queue& on, const pardo_use* uses, std::size_t n_uses, F&& f, const options& o = {}) {
    using Own = std::decay_t<F>;
    const detail::c_options given(o, detail::destroy<Own>);
    auto own = std::make_unique<Own>(std::forward<F>(f));
    const pardo_api& p = api();
    event made;
    check(p.submit(on.get(), uses, n_uses, detail::call<Own>, own.release(), &given, made.put()));
    return made;
}
/// The same with uses in braces.
template <class F> event submit(const queue& on, std::initializer_list<pardo_use> uses, F&& f, const options& o = {}) {
    return submit(on, uses.begin(), uses.size(), std::forward<F>(f), o);
}

// --- libraries that a work function calls ----------------------------------------------------------------------------------------------

/// A function by its name, of the first of several libraries ("libcublas.so.13 libcublas.so.12") that can be opened: an extension neither
/// links it nor needs its headers. Keep it in a static.
template <class F> F* function(const char* libraries, const char* name) {
    const std::string all = libraries;
    void* opened = nullptr;
    for (std::size_t at = 0, end = 0; !opened && at < all.size(); at = end + 1) {
        end = std::min(all.find(' ', at), all.size());
        opened = dlopen(all.substr(at, end - at).c_str(), RTLD_LAZY | RTLD_LOCAL);
    }
    void* found = opened ? dlsym(opened, name) : nullptr;
    if (!opened) (void)api().library_functions(libraries, name, &found);  // which looks into NVIDIA's packages of Python too
    if (!found) throw error(PARDO_E_IMPORT, all + " with " + name + " is needed" + (opened ? "" : ", and cannot be opened"));
    return reinterpret_cast<F*>(found);
}

/// Throws where a driver or a library gives another code than 0.
inline void check_code(int code, const char* what) {
    if (code != 0) throw error(PARDO_E_DEVICE, std::string(what) + " gave " + std::to_string(code));
}

/// What make(void**) gives for a device and thread at first use; it stays. For a cublasHandle_t and the like, which threads do not share.
template <class Make> void* kept_for(const work& w, const Make& make) {
    thread_local std::map<std::pair<void*, void*>, void*> all;  // by context and device; one for each type of Make
    void*& kept = all[{w->native.context, w->native.device}];
    if (!kept) make(&kept);
    return kept;
}

/// Calls f(status) once, on a thread of pardo's, when the event is complete or has failed. What f throws is dropped.
template <class F> void then(const event& e, F&& f) {
    using Own = std::decay_t<F>;
    auto own = std::make_unique<Own>(std::forward<F>(f));
    const pardo_api& p = api();
    const auto call = [](pardo_status status, void* user) noexcept { (void)guarded([&] { (*static_cast<Own*>(user))(status); }); };
    check(p.event_then(e.get(), call, own.release(), detail::destroy<Own>));
}

/// What a shape rule gives.
inline pardo_result result(std::int32_t dtype, std::initializer_list<std::int64_t> shape) {
    if (shape.size() > PARDO_MAX_NDIM) throw error(PARDO_E_VALUE, "result: too many dimensions");
    pardo_result made{};
    made.dtype = dtype;
    made.ndim = static_cast<std::int32_t>(shape.size());
    std::copy(shape.begin(), shape.end(), made.shape);
    return made;
}
/// As an input is.
inline pardo_result result_like(const pardo_array_info& x) noexcept {
    pardo_result made{};
    made.dtype = x.dtype;
    made.ndim = x.ndim;
    for (int d = 0; d < x.ndim; ++d) made.shape[d] = x.shape[d];
    return made;
}

/// A node: N results, computed by f as submit would, when they are needed. rule(const pardo_array_info* inputs) gives their
/// std::array<pardo_result, N>, of one result a pardo_result. In f the inputs come first, then the results.
template <std::size_t N = 1, class Rule, class F>
auto record(const queue& on, std::initializer_list<std::reference_wrapper<const array>> inputs, Rule&& rule, F&& f, const options& o = {}) {
    struct Own {
        std::decay_t<Rule> rule;
        std::decay_t<F> f;
    };
    const auto shape = [](const pardo_array_info* in, std::size_t, pardo_result* out, std::size_t, void* user) noexcept -> pardo_status {
        return guarded([&] {
            if constexpr (std::is_same_v<std::decay_t<decltype(std::declval<Rule&>()(in))>, pardo_result>) {
                static_assert(N == 1, "the rule gives one result");
                *out = static_cast<Own*>(user)->rule(in);
            } else {
                const std::array<pardo_result, N> all = static_cast<Own*>(user)->rule(in);
                std::copy(all.begin(), all.end(), out);
            }
        });
    };
    const auto run = [](const pardo_work* w, void* user, void** done) noexcept -> int {
        return detail::call<std::decay_t<F>>(w, &static_cast<Own*>(user)->f, done);
    };
    std::vector<pardo_array> given;
    for (const array& x : inputs) given.push_back(x.get());
    const detail::c_options c(o, detail::destroy<Own>);
    std::unique_ptr<Own> own(new Own{std::forward<Rule>(rule), std::forward<F>(f)});
    const pardo_api& p = api();
    std::array<pardo_array, N> raw{};
    check(p.record(on.get(), given.data(), given.size(), N, shape, run, own.release(), &c, raw.data()));
    std::array<array, N> made;
    for (std::size_t k = 0; k < N; ++k) made[k] = steal<array>(raw[k]);
    if constexpr (N == 1) {
        return std::move(made[0]);
    } else {
        return made;
    }
}

}  // namespace PARDO_NATIVE_HIDDEN
}  // namespace pardo
