// python/bind/bind.h: what the binding files share: conversions between Python and the library, errors, waiting.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <pardo/array.h>
#include <pardo/error.h>
#include <pardo/ops.h>

namespace pardo {
class Kernel;
struct NdRange;
}  // namespace pardo

namespace bind {

namespace nb = nanobind;

using Ints = std::vector<std::int64_t>;

/// Ids of the rows of ops.def, as pardo::apply takes them.
enum class Row : int {
#define PARDO_ROW_elementwise(name) name,
#define PARDO_ROW_special(name) name,
#define PARDO_ROW_conversion(name)
#define OP(name, arity, kind, dtypes, result, cost, identity, recipe, numpy, doc) PARDO_ROW_##kind(name)
#include <pardo/binding/ops.def>
#undef OP
#undef PARDO_ROW_elementwise
#undef PARDO_ROW_special
#undef PARDO_ROW_conversion
};

/// A value of a dict, which others may change meanwhile; not valid, without an error, where there is none.
inline nb::object value_in(PyObject* dict, PyObject* key) {
#if Py_LIMITED_API >= 0x030d0000
    PyObject* value = nullptr;
    if (PyDict_GetItemRef(dict, key, &value) < 0) throw nb::python_error();
    return nb::steal(value);
#else
    nb::object value = nb::borrow(PyDict_GetItemWithError(dict, key));
    if (!value.is_valid() && PyErr_Occurred()) throw nb::python_error();
    return value;
#endif
}

/// What `make` gives when it is needed first; kept for ever. Making it may run Python's code, and other threads with it, which may make it
/// too: the first one stays. With a static of its own a thread that has the GIL would wait for one that asks for it.
template <class F> const std::invoke_result_t<F>& made_once(F make) {
    using Value = std::invoke_result_t<F>;
    static std::atomic<const Value*> known{nullptr};
    if (const Value* const value = known.load(std::memory_order_acquire)) return *value;
    const Value* const made = new Value(make());
    const Value* first = nullptr;
    return known.compare_exchange_strong(first, made, std::memory_order_acq_rel) ? *made : *first;
}

// --- texts (text.cpp) ---------------------------------------------------------------------------------------------------------

/// A str of Python in UTF-8; surrogates on their own, which UTF-8 cannot hold, become their bytes or are shown as \udc80.
std::string text_from(nb::handle o);
/// A text of the library or of a driver; bytes that are not UTF-8 are shown as \xf3.
nb::str text_to_python(std::string_view text);
/// str(o), for messages.
std::string str_of(nb::handle o);

// --- the Array object (array.cpp) ---------------------------------------------------------------------------------------------

/// The Python class; final, so that one comparison tells an Array.
extern PyTypeObject* array_type;
inline bool is_array(PyObject* o) { return Py_TYPE(o) == array_type; }
inline pardo::Array& array_of(PyObject* o) { return *nb::inst_ptr<pardo::Array>(o); }
/// A new Python object that holds the array.
PyObject* wrap(pardo::Array array);

// --- operands, scalars, dtypes (convert.cpp) ----------------------------------------------------------------------------------

/// What an operand turned out to be.
enum class OperandKind { Array, Scalar, Other };
struct ParsedOperand {
    OperandKind kind = OperandKind::Other;
    const pardo::Array* array = nullptr;
    std::optional<pardo::Array> copied;  // of values of the host
    pardo::Scalar scalar;
    operator pardo::Operand() const { return array ? pardo::Operand(*array) : pardo::Operand(scalar); }
};
/// Array, Python number or NumPy scalar, or values of the host (lists, NumPy arrays), which are copied to the queue of the arrays that they
/// meet: `home`, or `other` where no such array is told; without any to the default queue. All else is of kind Other.
/// Python integers beyond 64 bits become floats where `row` computes in floats, or `other`, the operand they meet, is inexact; in
/// comparisons they are infinite; else OverflowError.
void parse_operand(PyObject* o, ParsedOperand& out, const char* op_name, const pardo::Array* other = nullptr, std::optional<Row> row = {},
                   const pardo::Array* home = nullptr);
/// Thrown by parse_operand inside device_context for a NumPy array that meets no array of pardo: the whole call goes through
/// pardo._array.contexts.offload then, which copies in and out.
struct NumPyOperand {};
/// True inside `with pardo.device_context(...)`.
bool in_device_context();
/// Whether arrays of the host have copies on devices (`pp.data`), which take their place wherever they are operands or arguments.
bool data_is_mapped();
/// Whether an array follows those that it meets: 0-d ones of the CPU.
inline bool follows(const pardo::Array& x) { return x.ndim() == 0 && x.device().in_host_memory(); }
/// How strongly an array decides where results are: 2 if it does not follow, 1 on a queue of one's own, 0 on a canonical one.
inline int pull_of(const pardo::Array& x) { return !follows(x) ? 2 : x.device().remembered() ? 1 : 0; }
/// The error for data that would have to be copied in: arrays of other libraries.
[[noreturn]] void refuse_operand(PyObject* o, const char* op_name);
/// A Python number or NumPy scalar as a Scalar (weak if Python's); nothing for other objects.
std::optional<pardo::Scalar> scalar_from(PyObject* o);
/// The scalar as bool, int, float or complex.
PyObject* scalar_to_python(const pardo::Scalar& s);

/// A dtype given as what NumPy calls it: its dtype, its scalar type or its name.
std::optional<pardo::DType> dtype_at_sight(PyObject* o);
/// Anything that numpy.dtype() takes; throws TypeError listing what is supported.
pardo::DType dtype_from(PyObject* o);
/// NumPy's dtype object.
nb::object dtype_to_python(pardo::DType t);

/// The numpy module, imported at first use.
nb::handle numpy();
/// True for numpy.ndarray and subclasses.
bool is_numpy_array(PyObject* o);
/// True for numpy.ndarray itself.
bool is_exact_numpy_array(PyObject* o);
/// True for a NumPy array without dimensions: a number with a dtype of its own.
bool is_number_of_numpy(PyObject* o);

/// An int of Python or anything with __index__; throws IndexError or TypeError.
std::int64_t int_from(PyObject* o);
nb::tuple tuple_of(pardo::Extents values);
/// The package's LocalAccessor; kept for ever. Null until the package has said it.
extern PyObject* local_class;
/// The name of the object's class, for messages.
std::string class_name(nb::handle o);
/// The dtype of `host`, which NumPy has made of `o`; throws TypeError when that holds no numbers.
pardo::DType dtype_of_values(const char* op_name, nb::handle o, nb::handle host);

/// A Device, a selection string, or None for the default device.
pardo::Device device_from(nb::handle o, const char* op_name);

/// Tells the library where OpenBLAS is, once; to be called before it is needed.
void find_openblas();

/// What NumPy makes an array of; memory that an object only describes is checked first.
nb::object host_values(PyObject* o, const char* op_name);
/// Host memory behind an object with the buffer protocol, copied to a new array.
pardo::Array copy_buffer(nb::handle object, pardo::DType dtype, const pardo::Queue& queue,
                         pardo::MemoryKind kind = pardo::MemoryKind::Device, const char* op_name = "asarray");
/// 'device', 'shared' or 'host'; throws ValueError, or TypeError for what is not a string.
pardo::MemoryKind kind_from(nb::handle name, const char* op_name);

// --- values of the host (array/host_operands.cpp) -----------------------------------------------------------------------------

/// Whether an object holds values on the host that are copied to the arrays they meet: lists, tuples, NumPy arrays, buffers, what has
/// `__array__`; not objects that compute with our arrays themselves.
bool is_host_data(PyObject* o);
/// A copy of such values, seen by transfer_guard. It `follows` where the queue is that of arrays that they meet.
pardo::Array host_operand(PyObject* o, const char* op_name, const pardo::Queue& queue, bool follows = true);
/// As copy_buffer, of a NumPy array and seen by transfer_guard.
pardo::Array copy_operand(nb::handle host, pardo::DType dtype, const pardo::Queue& queue, const char* op_name);
/// Tells transfer_guard of a copy that was not asked for by name; throws if it is disallowed.
void note_transfer(const char* op_name, std::int64_t bytes, const std::string& device, bool to_device);

// --- index expressions (index.cpp) --------------------------------------------------------------------------------------------

/// Whether the interpreter lets go of `o` after the call or assignment: the value of an expression, not of a name. C code that holds the
/// only reference looks the same.
bool looks_temporary(PyObject* o);
PyObject* getitem(PyObject* self, PyObject* index);
PyObject* item_at(PyObject* self, Py_ssize_t i);
int setitem(PyObject* self, PyObject* index, PyObject* value);

// --- universal functions (ufunc.cpp) ------------------------------------------------------------------------------------------

/// A call of row `id` of ops.def with arguments as Python passes them to C (elementwise.cpp).
PyObject* call_row(int id, PyObject* const* args, Py_ssize_t count, PyObject* names);
/// The object that is called.
nb::object ufunc_of_row(int id, const char* name, int arity, const char* docstring);

// --- errors (error.cpp, function.cpp) -----------------------------------------------------------------------------------------

/// Leaves the frames of the package out of the traceback of the exception that is set, if one is, as a call of users' comes to its end;
/// `name` is that of the function which they called, of which the message is to speak (function.cpp).
void hide_frames(PyObject* name = nullptr) noexcept;
/// Marks an exception that late work has failed with: the message says what has failed, and gets no name of a function.
void keep_message(PyObject* exception);
/// What Python of the package has given a function of nanobind's that users call, by `name` if that is another; null throws what it raised.
PyObject* shown_result(PyObject* result, const char* name = nullptr);
/// Sets Python's error from the C++ exception that is being handled.
void set_error_from_current_exception() noexcept;
/// Runs `f` in a C slot: an exception becomes Python's error and `failure` is returned.
template <class F, class R> R guarded(R failure, F&& f) noexcept {
    try {
        return f();
    } catch (...) {
        set_error_from_current_exception();
        return failure;
    }
}
template <class F> PyObject* guarded(F&& f) noexcept {
    PyObject* const result = guarded<F, PyObject*>(nullptr, std::forward<F>(f));
    if (!result) hide_frames();
    return result;
}

// --- calls of Python's (python_calls.cpp) -------------------------------------------------------------------------------------

/// Calls a Python object with positional arguments; null with Python's error set if that fails.
PyObject* call_python(PyObject* f, std::initializer_list<PyObject*> arguments);

// --- calls that an argument takes over (function.cpp) -------------------------------------------------------------------------

/// The classes of arrays over several devices, and of what their `device` is; null before the first one is made (pardo/_sharding).
extern PyTypeObject* taking_over[2];
/// Whether one of them is among arguments, or in a list or tuple of these.
bool holds_taking_over(PyObject* const* args, std::size_t count);
inline bool is_taken_over(PyObject* const* args, std::size_t count, PyObject* names) {
    if (!taking_over[0]) [[likely]]
        return false;
    return holds_taking_over(args, count + static_cast<std::size_t>(names ? PyTuple_Size(names) : 0));
}
/// What such a call of a public function gives.
PyObject* hand_over(PyObject* function, PyObject* const* args, std::size_t count, PyObject* names);
/// Once, when the module is made: a daemon thread that Python ends stays in the call that it ends in.
void guard_calls_of_python();

// --- threads and the GIL (wait.cpp) -------------------------------------------------------------------------------------------

/// Releases the GIL; the user's line is noted before, because the library asks for it when it hands work over.
class Unlocked {
public:
    Unlocked();
    ~Unlocked();
    Unlocked(const Unlocked&) = delete;
    Unlocked& operator=(const Unlocked&) = delete;

private:
    PyThreadState* state_;
};
/// Waits without the GIL, in slices, so that Ctrl-C works; raises the event's failure.
void wait(const pardo::Event& event);
/// Forces and waits as above: afterwards the array's data can be read without blocking.
const pardo::Array& settle(const pardo::Array& array);

/// As wait, for at most `seconds` (none: no limit); false when they are over first.
bool wait_for(const pardo::Event& event, std::optional<double> seconds);
/// The same, and raises nothing of the work's own.
bool done_within(const pardo::Event& event, std::optional<double> seconds);
/// Position of the first of the events that is complete; -1 when `seconds` are over first.
int wait_any(const std::vector<pardo::Event>& events, std::optional<double> seconds);
/// The same for all of them; false when the time is over first.
bool wait_all(const std::vector<pardo::Event>& events, std::optional<double> seconds);
/// A limit in seconds that a user gives: None or a number that is not negative.
std::optional<double> timeout_from(nb::handle o, const char* op_name);

/// The GIL on a thread of the library, or on one that has given it away, as long as the interpreter lives.
class WithGil {
public:
    WithGil();
    ~WithGil();
    WithGil(const WithGil&) = delete;
    /// False at the interpreter's end: then nothing of Python may be touched.
    explicit operator bool() const { return held_; }

private:
    bool held_ = false, outer_ = false;
    PyGILState_STATE state_{};
};
/// The process that forks, from Python's hooks before fork() to those after it, in both processes; 0 otherwise.
extern std::atomic<int> forking;
/// Calls f(context) at a time when the GIL is held and no lock of the library is; callable from any thread.
void call_later(void (*f)(void*), void* context);
/// The same for what belongs to an array's memory: where Python lets go of the last array on it, that is at the end of this.
void let_go(void (*f)(void*), void* context);
/// The destructor of arrays that Python has held: with the GIL, and no lock of the library.
void destroy_array(void* array) noexcept;
/// Throws on the thread that ends the interpreter once no callback begins any more: one that it waits for would never come.
void check_callbacks_begin(const char* op_name);
/// Whether this thread has the GIL; false inside of Unlocked, where an extension has let it go, and on threads that Python does not know.
bool holds_gil();
/// Keeps the user's line for what this thread hands over when it has let the GIL go.
void note_line();

/// An object that the library keeps; it is let go when that is safe, on any thread.
std::shared_ptr<void> kept(nb::object o);
inline nb::handle object_in(const std::shared_ptr<void>& keeper) { return nb::handle(static_cast<PyObject*>(keeper.get())); }
/// "file.py:42" of the user's innermost frame.
std::string users_line();

/// The exception that Python has set, as an error of the library; clears it.
pardo::Error error_from_python();
pardo::Error error_from_exception(nb::object exception);
/// The exception that stands for an error: the user's own object when one is behind it.
nb::object exception_from(const pardo::Error& e);

/// What to wait for: None, an event, an array, or several of them.
std::vector<pardo::Event> depends_from(nb::handle o, const char* op_name);
/// A queue, or null for None.
const pardo::Queue* queue_from(nb::handle o);
/// Hands a kernel over (kernel.cpp); `arguments` is a tuple, `depends` what Event.wait_all takes, or None. `constants`: one bit for each
/// argument that is a number and becomes part of the program.
pardo::Event launch(const pardo::Kernel& kernel, nb::handle arguments, const pardo::NdRange& range, nb::handle queue, nb::handle depends,
                    const char* op_name, std::uint64_t constants = 0);
/// The error for an argument of a kernel that is none. `place`: "add: argument 2"; `expected`: "an array".
[[noreturn]] void refuse_argument(nb::handle o, const std::string& place, const char* expected);

// --- one function a header ----------------------------------------------------------------------------------------------------

/// Lets the package install something by a name: `_core._install({name: value})`.
void hook(const char* name, void (*install)(nb::handle value));
/// Puts a value, or null for None, in a place that is kept for ever.
void keep(PyObject*& place, nb::handle value);
void bind_hooks(nb::module_& m);

void bind_error(nb::module_& m);
void bind_function(nb::module_& m);
void bind_wait(nb::module_& m);
void bind_float_errors();
void bind_device(nb::module_& m);
void bind_external(nb::module_& m);
void bind_memory(nb::module_& m);
void bind_cache(nb::module_& m);
void bind_event(nb::module_& m);
void bind_queue(nb::module_& m);
void bind_task(nb::module_& m);
void bind_allocator(nb::module_& m);
void bind_block(nb::module_& m);
void bind_profile(nb::module_& m);
void bind_array(nb::module_& m);
void bind_exchange(nb::module_& m, nb::class_<pardo::Array>& c);
/// Setter of the attribute `shape`.
void assign_shape(pardo::Array& x, nb::handle shape);
void bind_layout(nb::module_& m, nb::class_<pardo::Array>& c);
void bind_host_operands(nb::module_& m);
void bind_protocols();
void bind_ufunc(nb::module_& m);
void bind_elementwise(nb::module_& m);
void bind_ops(nb::module_& m);
void bind_linalg(nb::module_& m);
void bind_kernel(nb::module_& m);
void bind_launcher(nb::module_& m);
void bind_captured(nb::module_& m);
void bind_loop_call(nb::module_& m);
void bind_program(nb::module_& m);
void bind_image(nb::module_& m);
void bind_present(nb::module_& m);
void bind_saved_program(nb::module_& m);
void bind_data_block(nb::module_& m);
void bind_region(nb::module_& m);
void bind_native(nb::module_& m);

extern PyType_Slot operator_slots[];                         // array/operators.cpp; ends with {0, nullptr}
int get_buffer(PyObject* self, Py_buffer* view, int flags);  // array/exchange.cpp
void release_buffer(PyObject* self, Py_buffer* view);

/// An array as an argument of what lets the GIL go: its value, whatever another thread makes of the object meanwhile.
struct ArrayArgument {
    pardo::Array array;
    operator const pardo::Array&() const { return array; }
};

/// A queue as an argument: what is none is refused in our words.
struct QueueArgument {
    const pardo::Queue* queue = nullptr;
    operator const pardo::Queue&() const { return *queue; }
};

}  // namespace bind

namespace nanobind::detail {

/// nanobind's own casters refuse texts that are not UTF-8, in either direction.
template <> struct type_caster<std::string> {
    NB_TYPE_CASTER(std::string, const_name("str"))
    bool from_python(handle src, uint32_t, cleanup_list*) {
        if (!PyUnicode_Check(src.ptr())) return false;
        value = bind::text_from(src);
        return true;
    }
    static handle from_cpp(std::string_view text, rv_policy, cleanup_list*) { return bind::text_to_python(text).release(); }
};

/// For parameters and results; what nb::cast gave would outlive its text.
template <> struct type_caster<std::string_view> {
    NB_TYPE_CASTER(std::string_view, const_name("str"))
    std::string text;
    bool from_python(handle src, uint32_t, cleanup_list*) {
        if (!PyUnicode_Check(src.ptr())) return false;
        text = bind::text_from(src);
        value = text;
        return true;
    }
    static handle from_cpp(std::string_view text, rv_policy, cleanup_list*) { return bind::text_to_python(text).release(); }
};

template <> struct type_caster<bind::ArrayArgument> {
    NB_TYPE_CASTER(bind::ArrayArgument, make_caster<pardo::Array>::Name)
    bool from_python(handle src, uint32_t, cleanup_list*) {
        if (!bind::is_array(src.ptr())) return false;
        value.array = bind::array_of(src.ptr());
        return true;
    }
};

template <> struct type_caster<bind::QueueArgument> {
    NB_TYPE_CASTER(bind::QueueArgument, const_name("Queue"))
    bool from_python(handle src, uint32_t, cleanup_list*) {
        pardo::Queue* queue = nullptr;
        if (!try_cast<pardo::Queue*>(src, queue) || !queue) {
            throw pardo::Error(pardo::ErrorCode::Type, "queue: a pardo.Queue is expected, not " + bind::class_name(src));
        }
        value.queue = queue;
        return true;
    }
};

template <> struct type_caster<pardo::DType> {
    NB_TYPE_CASTER(pardo::DType, const_name("DTypeLike"))
    bool from_python(handle src, uint32_t, cleanup_list*) {
        value = bind::dtype_from(src.ptr());
        return true;
    }
    static handle from_cpp(pardo::DType t, rv_policy, cleanup_list*) { return bind::dtype_to_python(t).release(); }
};

/// nanobind's own caster of optionals may not throw, and ours do.
template <class T> struct throwing_optional_caster {
    NB_TYPE_CASTER(std::optional<T>, make_caster<T>::Name + const_name(" | None"))
    bool from_python(handle src, uint32_t flags, cleanup_list* cleanup) {
        value.reset();
        if (src.is_none()) return true;
        make_caster<T> caster;
        if (!caster.from_python(src, flags, cleanup)) return false;
        value = caster.value;
        return true;
    }
};
template <> struct type_caster<std::optional<pardo::DType>> : throwing_optional_caster<pardo::DType> {};

template <> struct type_caster<pardo::Scalar> {
    NB_TYPE_CASTER(pardo::Scalar, const_name("complex | numpy.generic[Any]"))
    bool from_python(handle src, uint32_t, cleanup_list*) {
        const auto s = bind::scalar_from(src.ptr());
        if (!s) throw pardo::Error(pardo::ErrorCode::Type, "a number is expected, not " + bind::class_name(src));
        value = *s;
        return true;
    }
    static handle from_cpp(const pardo::Scalar& s, rv_policy, cleanup_list*) { return bind::scalar_to_python(s); }
};
template <> struct type_caster<std::optional<pardo::Scalar>> : throwing_optional_caster<pardo::Scalar> {};

}  // namespace nanobind::detail
