// pardo/native/python.hpp: what pardo/nanobind.h, pardo/pybind11.h and pardo/native.pxd share: the capsule, Python's objects as handles,
// arrays as a signature asks for them, exceptions of Python. All of it needs the GIL, but for what says that it takes it.
#pragma once

#include <Python.h>

#include <pardo/native.hpp>

namespace pardo {
namespace native PARDO_NATIVE_HIDDEN {

// --- exceptions, the capsule -------------------------------------------------------------------------------------------------------------

/// Sets the exception of Python that a code stands for.
inline void set_python_error(pardo_status code, const char* text) noexcept {
    const auto set_own = [text](const char* name) {
        PyObject* const module = PyImport_ImportModule("pardo");
        PyObject* const type = module ? PyObject_GetAttrString(module, name) : nullptr;
        if (type) PyErr_SetString(type, text);
        Py_XDECREF(type);
        Py_XDECREF(module);
    };
    switch (code) {
        case PARDO_E_PLACEMENT: return set_own("ExecutionPlacementError");
        case PARDO_E_DEVICE: return set_own("DeviceError");
        case PARDO_E_NO_DEVICE: return set_own("DeviceNotFoundError");
        case PARDO_E_COMPILE: return set_own("CompileError");
        case PARDO_E_VALUE:
        case PARDO_E_HANDLE: return PyErr_SetString(PyExc_ValueError, text);
        case PARDO_E_TYPE: return PyErr_SetString(PyExc_TypeError, text);
        case PARDO_E_INDEX: return PyErr_SetString(PyExc_IndexError, text);
        case PARDO_E_OVERFLOW: return PyErr_SetString(PyExc_OverflowError, text);
        case PARDO_E_MEMORY: return PyErr_SetString(PyExc_MemoryError, text);
        case PARDO_E_BUFFER: return PyErr_SetString(PyExc_BufferError, text);
        case PARDO_E_IMPORT: return PyErr_SetString(PyExc_ImportError, text);
        case PARDO_E_TIMEOUT: return PyErr_SetString(PyExc_TimeoutError, text);
        default: return PyErr_SetString(PyExc_RuntimeError, text);
    }
}

/// Thrown where an exception of Python is set already.
struct python_error_is_set {};

/// Within a handler of exceptions: sets the exception of Python that the present one stands for.
inline void set_python_error() noexcept {
    try {
        throw;
    } catch (const python_error_is_set&) {
    } catch (const error& e) {
        set_python_error(e.code(), e.what());
    } catch (const std::bad_alloc&) {
        PyErr_NoMemory();
    } catch (const std::exception& e) {
        PyErr_SetString(PyExc_RuntimeError, e.what());
    } catch (...) {
        PyErr_SetString(PyExc_RuntimeError, "an exception that says nothing of itself");
    }
}

/// Imports pardo and takes its table, once. False: an exception of Python is set.
inline bool import_table() noexcept {
    if (table) return true;
    const void* const found = PyCapsule_Import("pardo._C_API", 0);
    if (!found) return false;
    try {
        load(found);
    } catch (...) {
        set_python_error();
    }
    return table != nullptr;
}

// --- objects -----------------------------------------------------------------------------------------------------------------------------

/// PARDO_IS_ARRAY and the like.
template <class Handle> constexpr std::int32_t kind_of() {
    if constexpr (std::is_base_of_v<array, Handle>) {
        return PARDO_IS_ARRAY;
    } else if constexpr (std::is_base_of_v<queue, Handle>) {
        return PARDO_IS_QUEUE;
    } else if constexpr (std::is_base_of_v<event, Handle>) {
        return PARDO_IS_EVENT;
    } else {
        static_assert(std::is_base_of_v<device, Handle>, "an array, queue, event or device");
        return PARDO_IS_DEVICE;
    }
}

/// What an object is; last_error says why it is none.
template <class Handle> pardo_status take(PyObject* object, Handle& out) {
    void* raw = nullptr;
    const pardo_status status = api().from_py(object, kind_of<Handle>(), &raw);
    if (status == PARDO_OK) *out.put() = static_cast<typename Handle::raw_type>(raw);
    return status;
}
/// The same as a result; throws.
template <class Handle> Handle from_python(PyObject* object) {
    if (!import_table()) throw python_error_is_set();
    Handle made;
    check(take(object, made));
    return made;
}
/// A new reference; null: an exception of Python is set.
template <class Handle> PyObject* to_python(const Handle& x) noexcept {
    if (!import_table()) return nullptr;
    return static_cast<PyObject*>(table->to_py(x.get(), kind_of<Handle>()));
}

/// Lets an object go from any thread: it takes the GIL. Of a process that ends, the object is left alone.
inline void release_object(void* object) noexcept {
    if (!object || !Py_IsInitialized()) return;
    const PyGILState_STATE state = PyGILState_Ensure();
    Py_DECREF(static_cast<PyObject*>(object));
    PyGILState_Release(state);
}
/// Keeps an object for work, which lets it go on a thread of pardo's.
inline std::shared_ptr<PyObject> keep_object(PyObject* object) {
    Py_INCREF(object);
    return {object, release_object};
}

// --- arrays in signatures ----------------------------------------------------------------------------------------------------------------

/// What the parts of arr's signature ask of an array, as `wanted` has it.
struct asked {
    static constexpr std::uint32_t flags = 0, not_flags = 0, backend = 0;  ///< nothing
};
/// Of arr: the elements are row-major and without gaps.
struct c_contig : asked {
    static constexpr std::uint32_t flags = PARDO_C_CONTIGUOUS;  ///< of pardo_array_info
};
/// Of arr: the elements are column-major and without gaps.
struct f_contig : asked {
    static constexpr std::uint32_t flags = PARDO_F_CONTIGUOUS;  ///< of pardo_array_info
};
/// Of arr: the elements can be written.
struct writable : asked {
    static constexpr std::uint32_t not_flags = PARDO_READ_ONLY;  ///< of pardo_array_info
};
/// Of arr: the back end of its device.
template <std::int32_t Backend> struct on : asked {
    static constexpr std::uint32_t backend = Backend;  ///< PARDO_CPU and the like
};
using on_cpu = on<PARDO_CPU>;               ///< the CPU
using on_opencl = on<PARDO_OPENCL>;         ///< a device of OpenCL
using on_cuda = on<PARDO_CUDA>;             ///< a device of CUDA
inline constexpr int any_ndim = PARDO_ANY;  ///< of arr: whatever its number of dimensions

/// What a signature asks of an array.
struct wanted {
    std::int32_t dtype, ndim;                 ///< PARDO_ANY: whatever it is
    std::uint32_t flags, not_flags, backend;  ///< those that it has, those that it has not; 0: any back end
    /// True where an array suits.
    bool has(const pardo_array_info& x) const noexcept {
        return (dtype == PARDO_ANY || x.dtype == dtype) && (ndim == PARDO_ANY || x.ndim == ndim) && (x.flags & flags) == flags &&
               (x.flags & not_flags) == 0 && (backend == 0 || x.backend == static_cast<std::int32_t>(backend));
    }
};

namespace detail {

/// Text that is made at compile time.
struct words {
    char text[160]{};
    std::size_t size = 0;
    constexpr void add(const char* more) {
        for (; *more; ++more) text[size++] = *more;
    }
};
constexpr words words_of(const wanted& w) {
    constexpr const char* backends[] = {"", ", on the CPU", ", on OpenCL", ", on CUDA", ", on null"};
    words made;
    made.add(dtype_name(w.dtype));
    if (w.ndim != PARDO_ANY) {
        const char digits[] = {' ', static_cast<char>('0' + w.ndim / 10), static_cast<char>('0' + w.ndim % 10), '\0'};
        made.add(",");
        made.add(w.ndim < 10 ? " " : "");
        made.add(digits + (w.ndim < 10 ? 2 : 0));
        made.add(w.ndim == 1 ? " dimension" : " dimensions");
    }
    if (w.flags & PARDO_C_CONTIGUOUS) made.add(", row-major");
    if (w.flags & PARDO_F_CONTIGUOUS) made.add(", column-major");
    if (w.not_flags) made.add(", writable");
    made.add(backends[w.backend]);
    return made;
}

/// What bindings show of an array in a signature: an annotation of Python's, exactly as long as it is.
template <const wanted& What> struct signature {
    static constexpr words whole = [] {
        words made;
        made.add("typing.Annotated[pardo.Array, '");
        made.add(words_of(What).text);
        made.add("']");
        return made;
    }();
    template <std::size_t... I> static constexpr std::array<char, whole.size + 1> cut(std::index_sequence<I...>) {
        return {whole.text[I]..., '\0'};
    }
    static constexpr std::array<char, whole.size + 1> text = cut(std::make_index_sequence<whole.size>());
};

}  // namespace detail

/// "float64, 2 dimensions, row-major is expected, not float32 of the shape (3, 4), column-major, on cpu".
inline std::string mismatch(const wanted& w, const pardo_array_info& x) {
    std::string came = std::string(dtype_name(x.dtype)) + " of the shape (";
    for (int d = 0; d < x.ndim; ++d) came += (d > 0 ? ", " : "") + std::to_string(x.shape[d]);
    came += x.ndim == 1 ? ",)" : ")";
    const bool rows = (x.flags & PARDO_C_CONTIGUOUS) != 0, columns = (x.flags & PARDO_F_CONTIGUOUS) != 0;
    came += rows ? ", row-major" : columns ? ", column-major" : ", with gaps";
    if (x.flags & PARDO_READ_ONLY) came += ", read-only";
    char id[64] = "?";
    (void)table->device_text(x.device, PARDO_DEVICE_ID, id, sizeof id, nullptr);
    return std::string(detail::words_of(w).text) + " is expected, not " + came + ", on " + id;
}

/// A call as its casters see it: each makes one of these, and so calls within calls do not disturb each other.
class call {
public:
    call() noexcept : before_(std::exchange(now(), {})) {}
    ~call() { now() = before_; }
    call(const call&) = delete;
    call& operator=(const call&) = delete;
    /// Which of its arrays is looked at.
    int next_array() noexcept { return ++now().arrays; }
    /// Notes what is refused; gives what was first.
    const error& refuse(const error& e) noexcept { return *(now().first ? now().first : now().first = &e); }

private:
    struct state {
        int arrays = 0;
        const error* first = nullptr;
    };
    static state& now() noexcept {
        static thread_local state kept;
        return kept;
    }
    state before_;
};

/// An array of a dtype (void: any), a number of dimensions and what else is named: arr<double, 2, c_contig, on_cuda>.
template <class T, int N = any_ndim, class... What> class arr : public array {
public:
    /// What its signature asks.
    static constexpr wanted what = {dtype_of<T>(), N, (0u | ... | What::flags), (0u | ... | What::not_flags), (0u | ... | What::backend)};
    arr() = default;
    arr(array x, const pardo_array_info& facts) noexcept : array(std::move(x)), facts_(facts) {}  ///< an array that is known to suit
    /// Throws unless the array is one.
    explicit arr(const array& x) : array(x), facts_(x.info()) {
        if (!what.has(facts_)) throw error(PARDO_E_TYPE, mismatch(what, facts_));
    }
    /// As it was when the function was called.
    const pardo_array_info& facts() const noexcept { return facts_; }
    std::int64_t extent(int d) const noexcept { return facts_.shape[d]; }  ///< along a dimension
    std::int64_t size() const noexcept { return facts_.count; }            ///< elements
    int ndim() const noexcept { return facts_.ndim; }                      ///< dimensions

private:
    pardo_array_info facts_{};
};

/// A caster's work: whether an object is an array that suits. Why not, and an exception is to say it, where no other overload is to be
/// tried.
template <class T, int N, class... What>
bool take_array(PyObject* object, int which, bool last, arr<T, N, What...>& out, std::unique_ptr<error>& why) {
    array made;
    pardo_status status = take(object, made);
    pardo_array_info facts{};
    facts.size = sizeof facts;
    if (status == PARDO_OK) status = table->array_info(made.get(), &facts);
    if (status == PARDO_OK && arr<T, N, What...>::what.has(facts)) {
        out = arr<T, N, What...>(std::move(made), facts);
        return true;
    }
    if (!last) return false;
    const error e = status != PARDO_OK ? last_error() : error(PARDO_E_TYPE, mismatch(arr<T, N, What...>::what, facts));
    why = std::make_unique<error>(e.code(), "array argument " + std::to_string(which) + ": " + e.what());
    return false;
}
/// The same for other handles: what is none of them is left to the binding's own message.
template <class Handle> bool take_handle(PyObject* object, Handle& out, std::unique_ptr<error>& why) {
    const pardo_status status = take(object, out);
    if (status != PARDO_OK && status != PARDO_E_TYPE) why = std::make_unique<error>(last_error());
    return status == PARDO_OK;
}

}  // namespace PARDO_NATIVE_HIDDEN
}  // namespace pardo
