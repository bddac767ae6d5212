/* Tercet in a program of yours: the C interface. This header is the manual; tercet.hpp is the same for C++.
 *
 *   tct_engine* engine;    tct_engine_create(NULL, &engine, NULL);
 *   tct_session* session;  tct_session_create(engine, NULL, &session, NULL);
 *   tct_value* y;          tct_eval(session, TCT_STR("sum(arange(10))"), TCT_STR("demo"), &y, NULL);
 *   tct_array_view view;   tct_array_get_view(y, &view, NULL);      // *(const int32_t*)view.data is 45
 *
 * OBJECTS. An engine has the compiler and what it compiled; a session has names, limits and what it takes to run more
 * of a program; values and functions are immutable. All are counted references: tct_X_retain adds one, tct_X_release
 * takes one away, and NULL is fine. Release in any order: a handle keeps what it needs.
 *
 * OWNERSHIP. (1) What comes out through `out_…` is yours: release it. (2) What goes in stays yours. (3) Unless the
 * parameter's name begins with `take_`: that is consumed, also when the call fails. (4) A tct_str or pointer that comes
 * out is borrowed from the handle it was asked of. Text in is pointer and size; text out also ends in '\0'.
 *
 * ERRORS. A function that can fail returns a tct_status, TCT_OK is 0, and gives the reason through `out_error`, which
 * may be NULL. No out parameter is written on failure except out_error. Treat a status that you do not know like
 * TCT_ERR_INTERNAL. Nothing is thrown through this interface, and there is no global state.
 *
 * THREADS. Engines, values, functions and errors may be used from any number of threads at once. A session is for one
 * thread at a time; tct_session_interrupt may be called from any thread and from a signal handler. Callbacks run on the
 * thread that called in. fork() after tct_engine_create is not supported.
 *
 * WHAT PROGRAMS MAY DO. A session uses no file unless it is granted. Limits of memory, time and depth bound a program
 * that is wrong; they are no wall against one that is made to break out: for that, use a process.
 */
#ifndef TERCET_TERCET_H
#define TERCET_TERCET_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TCT_ABI_VERSION 0

#if defined(TERCET_BUILDING)
#define TCT_API __attribute__((visibility("default")))
#else
#define TCT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- basics ---- */

typedef struct tct_engine tct_engine;
typedef struct tct_session tct_session;
typedef struct tct_function tct_function;
typedef struct tct_value tct_value;
typedef struct tct_error tct_error;

typedef struct tct_str {
  const char* data;
  size_t size;
} tct_str;

/* The text of a string that ends in '\0'. */
static inline tct_str tct_str_of(const char* text) {
  tct_str s;
  s.data = text;
  s.size = text ? strlen(text) : 0;
  return s;
}
#define TCT_STR(text) tct_str_of(text)

/* The TCT_ABI_VERSION of the library, to compare with the header's. */
TCT_API int32_t tct_abi_version(void);
/* "0.1.0" */
TCT_API const char* tct_version(void);

typedef int32_t tct_status;
enum {
  TCT_OK = 0,
  /* the program was refused before it ran */
  TCT_ERR_SYNTAX = 1, TCT_ERR_NAME = 2, TCT_ERR_TYPE = 3, TCT_ERR_SHAPE = 4, TCT_ERR_COMPILE = 5, TCT_ERR_UNSUPPORTED = 6,
  /* it failed while it ran (types and shapes may as well) */
  TCT_ERR_INDEX = 10, TCT_ERR_ASSERT = 11, TCT_ERR_ARITHMETIC = 12, TCT_ERR_VALUE = 13, TCT_ERR_KEY = 14, TCT_ERR_IO = 15,
  TCT_ERR_DEVICE = 16, TCT_ERR_HOST = 17,
  /* a bound was met */
  TCT_ERR_INTERRUPTED = 20, TCT_ERR_DEADLINE = 21, TCT_ERR_MEMORY = 23, TCT_ERR_DENIED = 24, TCT_ERR_LIMIT = 25,
  /* the call itself was wrong; a fault of the library */
  TCT_ERR_USAGE = 30, TCT_ERR_INTERNAL = 31
};

/* ---- errors: owned, immutable ---- */

TCT_API tct_status tct_error_status(const tct_error* error);
/* The word between the brackets of `error[shape]`. */
TCT_API tct_str tct_error_code(const tct_error* error);
/* One line. */
TCT_API tct_str tct_error_message(const tct_error* error);
/* Message, place in the source, help, call chain: what the command line shows. */
TCT_API tct_str tct_error_render(const tct_error* error);
/* {"errors": [{"kind", "message", "label", "help", "row", "device", "source": {"name", "line", "column", "end_line",
 * "end_column"}, "notes", "frames"}]}: a syntax error may bring several. Lines and columns count from 1. */
TCT_API tct_str tct_error_json(const tct_error* error);
/* What a host function put into its failure (tct_host_failure), or NULL. */
TCT_API void* tct_error_host_data(const tct_error* error);
TCT_API void tct_error_retain(tct_error* error);
TCT_API void tct_error_release(tct_error* error);

/* ---- engine ---- */

/* Compiled code is optimised once it has run for a while, on a thread of its own that ends when nothing is left to do (AUTO); before
 * it first runs (ALWAYS); or not (NEVER). The results are the same. */
enum { TCT_OPTIMIZE_AUTO = 0, TCT_OPTIMIZE_ALWAYS = 1, TCT_OPTIMIZE_NEVER = 2 };
/* Loops outside of compiled functions that work on numbers go on as compiled code when they have run for a while (AUTO), from the
 * start (ALWAYS), or not (NEVER). The results are the same. */
enum { TCT_COMPILE_LOOPS_AUTO = 0, TCT_COMPILE_LOOPS_ALWAYS = 1, TCT_COMPILE_LOOPS_NEVER = 2 };

typedef struct tct_engine_options {
  uint32_t size;            /* sizeof *this, set by tct_engine_options_init */
  int32_t threads;          /* that programs use; 0: as many as the process may */
  int32_t simd_bits;        /* 256 or 512; 0: the widest of the machine */
  int32_t interpret;        /* not 0: compile nothing, `jit` means nothing then */
  const char* cache;        /* a folder that keeps compiled code between runs; NULL: none */
  int32_t optimize;         /* a TCT_OPTIMIZE_… */
  int32_t compile_loops;    /* a TCT_COMPILE_LOOPS_… */
} tct_engine_options;
TCT_API void tct_engine_options_init(tct_engine_options* options, size_t size);
/* options NULL: all as after _init. */
TCT_API tct_status tct_engine_create(const tct_engine_options* options, tct_engine** out_engine, tct_error** out_error);
TCT_API void tct_engine_retain(tct_engine* engine);
TCT_API void tct_engine_release(tct_engine* engine);

/* What a folder of compiled code holds. TCT_ERR_IO: it is not used, and why (others may write to it, …). */
typedef struct tct_cache_info {
  int64_t programs;
  int64_t bytes, most_bytes; /* taken, and what may be taken */
} tct_cache_info;
TCT_API tct_status tct_cache_get_info(tct_str folder, tct_cache_info* out_info, tct_error** out_error);
/* Empties it; *out_programs (may be NULL): how many there were. */
TCT_API tct_status tct_cache_clear(tct_str folder, int64_t* out_programs, tct_error** out_error);

/* ---- session ---- */

enum { TCT_CAP_FILES = 1u };                       /* the program may read and write files */

typedef struct tct_limits {
  int64_t memory_bytes;     /* of arrays alive at once; 0: no limit */
  int64_t deadline_ms;      /* of one tct_eval or tct_call; 0: none */
  int32_t call_depth;       /* of functions that call themselves; 0: 100,000 */
  int32_t reserved;         /* 0 */
} tct_limits;

/* How far a loop is: `done` of `total` steps (-1: nobody knows), or the share of a file that was read (-1: by steps). */
typedef struct tct_progress {
  int64_t done, total;
  double share;
} tct_progress;

typedef struct tct_session_options {
  uint32_t size;            /* sizeof *this, set by tct_session_options_init */
  uint32_t capabilities;    /* TCT_CAP_…, 0: none */
  tct_limits limits;
  int32_t devices;          /* of pmap; 0: as many as one asks for */
  int32_t jit_all;          /* not 0: every statement is compiled whole */
  double device_timeout_s;  /* how long devices wait for each other; 0: 600 */
  /* Gets what the program prints; NULL: it is dropped. It must be there as long as the session and functions taken from
   * it; functions that several threads call at once call it at once. */
  void (*write)(void* context, const char* text, size_t size);
  void* write_context;
  /* Asked now and then while a program runs or compiles, from any thread that works for it: not 0 stops it as
   * tct_session_interrupt does. NULL: nobody is asked. */
  int32_t (*stop)(void* context);
  void* stop_context;
  /* Told of each step of the outermost loop of a tct_eval, on the thread that called it, with the loop inside it or NULL; and with
   * NULL twice when the loop has ended. Steps may take a microsecond: return soon. NULL: nobody is told. */
  void (*progress)(void* context, const tct_progress* loop, const tct_progress* inner);
  void* progress_context;
  const tct_str* arguments; /* what `arguments()` gives the program; copied */
  size_t argument_count;
} tct_session_options;
TCT_API void tct_session_options_init(tct_session_options* options, size_t size);
TCT_API tct_status tct_session_create(tct_engine* engine, const tct_session_options* options, tct_session** out_session,
                                      tct_error** out_error);
TCT_API void tct_session_retain(tct_session* session);
TCT_API void tct_session_release(tct_session* session);
TCT_API tct_status tct_session_set_limits(tct_session* session, const tct_limits* limits, tct_error** out_error);
/* Stops what runs in the session, or in a function taken from it, with TCT_ERR_INTERRUPTED, within some milliseconds. */
TCT_API void tct_session_interrupt(tct_session* session);
/* Bytes of arrays that the session's limit counts now. */
TCT_API int64_t tct_session_memory(const tct_session* session);

/* Runs a program, whose places are told by `name`. *out_value (may be NULL) becomes the value of its last statement, or
 * NULL when that is no expression. On failure the statements before the failing one have had their effect. */
TCT_API tct_status tct_eval(tct_session* session, tct_str source, tct_str name, tct_value** out_value, tct_error** out_error);
/* Syntax, names, and types of functions whose parameters are annotated; runs nothing. *out_incomplete (may be NULL): 1
 * when the source ends inside of a bracket, string or block, so that a prompt should ask for more. */
TCT_API tct_status tct_check(tct_session* session, tct_str source, tct_str name, int32_t* out_incomplete, tct_error** out_error);
/* As tct_eval, but random keys are as if it had not run, and may have been used before: for measurements, which repeat. */
TCT_API tct_status tct_measure(tct_session* session, tct_str source, tct_str name, tct_value** out_value, tct_error** out_error);
/* A global of the session; TCT_ERR_NAME when there is none. */
TCT_API tct_status tct_get(tct_session* session, tct_str name, tct_value** out_value, tct_error** out_error);
/* Makes the value a global (a `var`). */
TCT_API tct_status tct_set(tct_session* session, tct_str name, tct_value* value, tct_error** out_error);

/* ---- for prompts and editors: texts come out as scalar strings, see tct_array_text ---- */

/* 1 when the source ends inside of a bracket, string or block. */
TCT_API int32_t tct_is_incomplete(tct_str source);
/* What a name is, with its documentation: a global, a builtin, a function of the library. TCT_ERR_NAME: nothing. */
TCT_API tct_status tct_help(tct_session* session, tct_str name, tct_value** out_text, tct_error** out_error);
/* The names and words that begin with `prefix`, in order: a str[n]. */
TCT_API tct_status tct_complete(tct_session* session, tct_str prefix, tct_value** out_names, tct_error** out_error);
/* What a function becomes, at a stage: "ir", "batched", "optimized", "kernels", "llvm" or "asm", for arguments of these types
 * ("f32[n, 128], i32[k]"; a name is the same size everywhere). At stage "ast", `expression` is a program, whose syntax tree is
 * shown; at stage "formatted", a program, which is shown in the one layout of programs; at stage "statement", a program whose last
 * statement is shown as the operations it becomes; at stage "symbols", a program, of which what it defines is shown, without running
 * it: {"symbols": [{"name", "kind": "function" | "variable" | "parameter" | "module", "detail", "doc", "top_level", "source": {"line",
 * "column", "end_line", "end_column"}, "scope": likewise, what sees the name}]}. A program's name stands in place of argument types. */
TCT_API tct_status tct_show(tct_session* session, tct_str expression, tct_str argument_types, tct_str stage, tct_value** out_text,
                            tct_error** out_error);

/* ---- functions ---- */

/* The function that an expression gives: "encode", "jit vmap encode". A snapshot: what the session defines later does
 * not change it. Its memory limit is the session's, and so are its interrupts. */
TCT_API tct_status tct_function_get(tct_session* session, tct_str expression, tct_function** out_function, tct_error** out_error);
TCT_API void tct_function_retain(tct_function* function);
TCT_API void tct_function_release(tct_function* function);
/* Calls it. Threads may call one function at the same time. The first call with arguments of some types and sizes
 * compiles what `jit` asks for; later ones only run. */
TCT_API tct_status tct_call(tct_function* function, tct_value* const* arguments, size_t count, tct_value** out_value,
                            tct_error** out_error);

/* A function of yours that programs can call. `arguments` are borrowed; on TCT_OK *out_result is consumed. Anything else
 * fails the program with that status (one that is none of TCT_ERR_… becomes TCT_ERR_HOST); say why with tct_host_failure.
 * It may call functions, not the session that runs. When a program fails in compiled code, it is run again to find out
 * where: then the function is called again, too. */
typedef tct_status (*tct_host_fn)(void* context, tct_value* const* arguments, size_t count, tct_value** out_result,
                                  tct_error** out_error);
/* For *out_error: a message, and data of yours that tct_error_host_data gives back. drop (may be NULL) is called once. */
TCT_API tct_error* tct_host_failure(tct_str message, void* take_data, void (*drop)(void*));
/* Defines `name`. The signature is written as in the language: "(f64, f32[n]) -> f32[n]"; every size of a result is a
 * number or a name that stands in an argument. Under vmap it is called lane by lane, in order. drop (may be NULL) is
 * called once, when nothing can call the function any more. */
TCT_API tct_status tct_define(tct_session* session, tct_str name, tct_str signature, tct_host_fn function, void* take_context,
                              void (*drop)(void*), tct_error** out_error);

/* ---- values ---- */

typedef int32_t tct_kind;
enum { TCT_NONE = 0, TCT_ARRAY = 1, TCT_TUPLE = 2, TCT_RECORD = 3, TCT_FUNCTION = 4, TCT_RANGE = 5, TCT_OTHER = 6 };

TCT_API void tct_value_retain(tct_value* value);
TCT_API void tct_value_release(tct_value* value);
TCT_API tct_kind tct_value_kind(const tct_value* value);
/* "f32[3, 128]", "tuple", …, and the value as `print` shows it. */
TCT_API tct_str tct_value_type(const tct_value* value);
TCT_API tct_str tct_value_text(const tct_value* value);
/* Types all the way down, "(f32[3], (a: i32))" or "fn scale(x, by)"; and type and value as a prompt shows them. */
TCT_API tct_str tct_value_full_type(const tct_value* value);
TCT_API tct_str tct_value_echo(const tct_value* value);
/* Elements of a tuple or fields of a record; 0 of anything else. */
TCT_API size_t tct_value_count(const tct_value* value);
TCT_API tct_status tct_value_at(const tct_value* value, size_t index, tct_value** out_value, tct_error** out_error);
TCT_API tct_status tct_value_field(const tct_value* value, tct_str name, tct_value** out_value, tct_error** out_error);
/* The name of a field; empty when there is none. */
TCT_API tct_str tct_value_field_name(const tct_value* value, size_t index);
TCT_API tct_status tct_tuple(tct_value* const* elements, size_t count, tct_value** out_value, tct_error** out_error);
TCT_API tct_status tct_record(const tct_str* names, tct_value* const* fields, size_t count, tct_value** out_value,
                              tct_error** out_error);

/* ---- arrays ---- */

typedef int32_t tct_dtype;
enum {
  TCT_BOOL = 0, TCT_I8 = 1, TCT_I16 = 2, TCT_I32 = 3, TCT_I64 = 4, TCT_U8 = 5, TCT_U16 = 6, TCT_U32 = 7, TCT_U64 = 8,
  TCT_F16 = 9, TCT_BF16 = 10, TCT_F32 = 11, TCT_F64 = 12, TCT_TEXT = 13, TCT_KEY = 14
};

/* An array's memory, row-major and contiguous, to be read only; it lives as long as the value. An axis whose rows differ
 * in length has size -1: then `data` holds the elements of all rows, one after another, and tct_array_offsets tells
 * where each begins. Strings are read by tct_array_text; their `data` is private. */
typedef struct tct_array_view {
  const void* data;
  const int64_t* shape;
  int64_t elements;         /* in all */
  int32_t ndim;
  tct_dtype dtype;
} tct_array_view;
TCT_API tct_status tct_array_get_view(const tct_value* value, tct_array_view* out_view, tct_error** out_error);
/* Offsets of the axis-th axis with rows of different length: row r is offsets[r] .. offsets[r + 1]. */
TCT_API tct_status tct_array_offsets(const tct_value* value, int32_t axis, const int64_t** out_offsets, size_t* out_rows,
                                     tct_error** out_error);
/* Element `index` of an array of strings, counted through all axes. */
TCT_API tct_status tct_array_text(const tct_value* value, int64_t index, tct_str* out_text, tct_error** out_error);

/* An array over memory of yours: no copy when it is row-major and aligned to its elements, as all ordinary memory is.
 * The memory must not change while the value, or anything made of it without a copy, lives; drop(take_owner) is called
 * once when it is not needed any more, or on failure. strides are in elements, NULL: row-major. ndim 0: a scalar. */
TCT_API tct_status tct_array_borrow(tct_dtype dtype, int32_t ndim, const int64_t* shape, const int64_t* strides, const void* data,
                                    void* take_owner, void (*drop)(void*), tct_value** out_value, tct_error** out_error);
/* An array that copies the memory, which is row-major. */
TCT_API tct_status tct_array_copy(tct_dtype dtype, int32_t ndim, const int64_t* shape, const void* data, tct_value** out_value,
                                  tct_error** out_error);
/* An array of strings, which are copied. They must be UTF-8. */
TCT_API tct_status tct_array_texts(int32_t ndim, const int64_t* shape, const tct_str* texts, tct_value** out_value,
                                   tct_error** out_error);
TCT_API tct_status tct_scalar_f64(double number, tct_value** out_value, tct_error** out_error);
TCT_API tct_status tct_scalar_i64(int64_t number, tct_value** out_value, tct_error** out_error);

/* DLPack 1.x: arrays of numbers and bools, dense, in memory of the CPU, without copies. */
struct DLManagedTensorVersioned;
/* Read-only for whoever gets it, who calls its deleter. */
TCT_API tct_status tct_to_dlpack(const tct_value* value, struct DLManagedTensorVersioned** out_tensor, tct_error** out_error);
/* Its deleter is called when it is not needed any more, and on failure. Copies only what is not row-major. */
TCT_API tct_status tct_from_dlpack(struct DLManagedTensorVersioned* take_tensor, tct_value** out_value, tct_error** out_error);

#ifdef __cplusplus
}
#endif
#endif
