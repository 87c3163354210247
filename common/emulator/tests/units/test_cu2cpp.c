/*
 * test_cu2cpp.c: the translator of .cu files. Each case is a text in and the text that must come out, to the character.
 */
#include <setjmp.h>
/* Before cmocka.h, which makes fail() a macro. */
int cu2cpp_main(int argc, char **argv);
#define main cu2cpp_main
#include "common/emulator/cu2cpp.c"
#undef main

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/test_cu2cpp_XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL || chdir(folder) != 0;
}

static int remove_folder(void **state)
{
    (void)state;
    return chdir("/") != 0 || rmdir(folder) != 0;
}

static void put(const char *name, const char *text)
{
    FILE *file = fopen(name, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

/* The file's text, to be freed; the file is removed. NULL when there is none. */
static char *take(const char *name)
{
    char *text = read_file(name);

    remove(name);
    return text;
}

/* Translates x.cu; what it says goes to x.err. */
static int run(const char *in, const char *out)
{
    char *arguments[] = {(char *)"cu2cpp", (char *)in, (char *)out, NULL};
    const int kept = dup(STDERR_FILENO), log = open("x.err", O_CREAT | O_TRUNC | O_WRONLY, 0600);
    int status;

    fflush(stderr);
    dup2(log, STDERR_FILENO);
    tokens = NULL;
    token_count = 0;
    status = cu2cpp_main(3, arguments);
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    close(log);
    return status;
}

static void expect(const char *in, const char *out)
{
    static const char head[] = "#include <cuda_runtime.h>\n#line 1 \"x.cu\"\n";
    char *text, *said;

    put("x.cu", in);
    assert_int_equal(run("x.cu", "x.cpp"), 0);
    text = take("x.cpp");
    said = take("x.err");
    assert_string_equal(said, "");
    assert_non_null(text);
    assert_memory_equal(text, head, strlen(head));
    assert_string_equal(text + strlen(head), out);
    free(text);
    free(said);
    remove("x.cu");
}

static void expect_same(const char *text)
{
    expect(text, text);
}

static void expect_error(const char *in, const char *message)
{
    char *said;

    put("x.cu", in);
    put("x.cpp", "of an earlier run");
    assert_int_equal(run("x.cu", "x.cpp"), 2);
    said = take("x.err");
    assert_string_equal(said, message);
    free(said);
    assert_int_equal(access("x.cpp", F_OK), -1);
    remove("x.cu");
}

static void test_launches(void **state)
{
    (void)state;
    expect("k<<<1, 2>>>();", "EMULATED_KERNEL(k)(1, 2)();");
    expect("k<<<g, b, s, st>>>(a, b);", "EMULATED_KERNEL(k)(g, b, s, st)(a, b);");
    expect("k <<< g, b >>> (a);", "EMULATED_KERNEL(k )( g, b ) (a);");
    expect("k<<<dim3(f(1, (2)), 3), {4, a[5]}>>>(x);", "EMULATED_KERNEL(k)(dim3(f(1, (2)), 3), {4, a[5]})(x);");
    expect("k<15, T><<<g, b>>>(x);", "EMULATED_KERNEL(k<15, T>)(g, b)(x);");
    expect("k<(1 > 2), A<B<C>>><<<g, b>>>(x);", "EMULATED_KERNEL(k<(1 > 2), A<B<C>>>)(g, b)(x);");
    expect("a::b<int>::k<<<g, b>>>(x);", "EMULATED_KERNEL(a::b<int>::k)(g, b)(x);");
    expect("x = 1; ::k<<<g, b>>>(x);", "x = 1; EMULATED_KERNEL(::k)(g, b)(x);");
    expect("if (n)\n    k<<<g, b>>>(x);\nelse\n    k<<<g, b>>>(y);",
           "if (n)\n    EMULATED_KERNEL(k)(g, b)(x);\nelse\n    EMULATED_KERNEL(k)(g, b)(y);");
    expect("TRY((k<<<g, b>>>(x), last()));", "TRY((EMULATED_KERNEL(k)(g, b)(x), last()));");
    expect("for (;;) (pick ? k : l)<<<g, b>>>(x);", "for (;;) EMULATED_KERNEL((pick ? k : l))(g, b)(x);");
    expect("return (k)<<<g, b>>>(x);", "return EMULATED_KERNEL((k))(g, b)(x);");
    expect("its->table[i + 1](2).k<<<g, b>>>(x);", "EMULATED_KERNEL(its->table[i + 1](2).k)(g, b)(x);");
    expect("k<<<g, b>>>(x), l<<<g, b>>>(y);", "EMULATED_KERNEL(k)(g, b)(x), EMULATED_KERNEL(l)(g, b)(y);");
    expect("{ k<<<n < 5 ? 1 : 2, p->b, a > b>>>(x); }", "{ EMULATED_KERNEL(k)(n < 5 ? 1 : 2, p->b, a > b)(x); }");
}

static void test_launches_in_macros(void **state)
{
    (void)state;
    expect("#define GO k<<<1, 2>>>(x)\n", "#define GO EMULATED_KERNEL(k)(1, 2)(x)\n");
    expect("int y; \n# define GO(k, ...) \\\n  do { k<<<1, 2>>>(__VA_ARGS__); } while (0)\nint z;",
           "int y; \n# define GO(k, ...) \\\n  do { EMULATED_KERNEL(k)(1, 2)(__VA_ARGS__); } while (0)\nint z;");
    expect_same("#define LINE \"<<<\" /* <<< */ 1 << 2\n#error k<<<1, 2>>>(x)\n");
}

static void test_casts_of_kernels(void **state)
{
    (void)state;
    expect("cudaLaunchKernel((void *)k, g, b);", "cudaLaunchKernel(k, g, b);");
    expect("cudaLaunchCooperativeKernel ( (const void*) k<int>, g);", "cudaLaunchCooperativeKernel (  k<int>, g);");
    expect_same("cudaLaunchKernel(k, (void *)p); f((void *)k);");
}

static void test_lines_stay(void **state)
{
    (void)state;
    expect("k<15,\n  T>\n<<<g, // grid\n  b /* > \n >>>( */ >>>\n(x,\n y);\nint z;",
           "EMULATED_KERNEL(k<15,\n  T>\n)(g, // grid\n  b /* > \n >>>( */ )\n(x,\n y);\nint z;");
    expect("{ __shared__\n int a[2]\n[3],\n b; }\nint z;",
           "{ \n int (&a)[2]\n[3] = EMULATED_SHARED(a),\n &b = EMULATED_SHARED(b); }\nint z;");
}

static void test_closing_angles(void **state)
{
    (void)state;
    expect("k<<<f<2>(1), S<3>::n>>>(x);", "EMULATED_KERNEL(k)(f<2>(1), S<3>::n)(x);");
    expect("k<<<1, f<g<h<1>>>(2)>>>(x);", "EMULATED_KERNEL(k)(1, f<g<h<1>>>(2))(x);");
    expect("k<<<1, v<v<v<1>>>>>>(x);", "EMULATED_KERNEL(k)(1, v<v<v<1>>>)(x);");
    expect("k<<<1, v<2>>>>(x);", "EMULATED_KERNEL(k)(1, v<2>)(x);");
    expect("k<<<1 << 3, a >> 2>>>(x);", "EMULATED_KERNEL(k)(1 << 3, a >> 2)(x);");
    expect("k<<<(a >>> (b)), 1>>>(x);", "EMULATED_KERNEL(k)((a >>> (b)), 1)(x);");
}

static void test_left_alone(void **state)
{
    (void)state;
    expect_same("");
    expect_same("x = a << b >> c; x <<= 2; x >>= 3; if (a < b && c > d) y = a<b;");
    expect_same("std::vector<std::vector<std::vector<int>>>(3); A<B<C<D>>> x;");
    expect_same("// k<<<1, 2>>>(x) and __shared__ int a; \\\n k<<<1, 2>>>(x)\nint y;");
    expect_same("/* k<<<1, 2>>>(x);\n __shared__ int a; */");
    expect_same("\"k<<<1, 2>>>(x) \\\" __shared__ int a;\" 'k' '\\'' '\"' L'\"' u8\"k<<<\"");
    expect_same("R\"(k<<<1, 2>>>(x) \" __shared__ int a;)\" R\"ab()\" k<<< )ab\" LR\"(\")\"");
    expect_same("n = 1'000'000 + 0x1p-3 + 1e+5 + 'a' + .5e-3f;");
    expect_same("std::ostream &operator<<<int>(std::ostream &, int);");
    expect_same("#define TWICE(x) ((x) << 1) \\\n    /* <<< */ \"<<<\" // <<<\nint y;");
    expect_same("#error don't __shared__ int a;\nint y;");
    expect_same("int __shared__x, x__shared__, my__noinline__;");
    expect_same("a = b /c; # pragma omp\n");
    expect_same("#pragma GCC unroll 8\n");
}

static void test_pragmas_and_attributes(void **state)
{
    (void)state;
    expect("#pragma unroll\nfor (;;)\n#  pragma unroll 8 // why\n;", "\nfor (;;)\n\n;");
    expect("__noinline__ void f();", "__attribute__((noinline)) void f();");
}

static void test_shared(void **state)
{
    (void)state;
    expect("{ __shared__ int a; }", "{  int &a = EMULATED_SHARED(a); }");
    expect("{ __shared__ unsigned char a[N + 2 * R][W], b; }",
           "{  unsigned char (&a)[N + 2 * R][W] = EMULATED_SHARED(a), &b = EMULATED_SHARED(b); }");
    expect("{ __shared__ int *p, **q[3]; }", "{  int *&p = EMULATED_SHARED(p), **(&q)[3] = EMULATED_SHARED(q); }");
    expect("{ __shared__ pair<int, vec<2>> a[f(1, 2)]; }",
           "{  pair<int, vec<2>> (&a)[f(1, 2)] = EMULATED_SHARED(a); }");
    expect("{ static volatile __shared__ int a[2]; }", "{  volatile  int (&a)[2] = EMULATED_SHARED(a); }");
    expect("{ __shared__ __align__(16) char a[2]; }", "{   char (&a)[2] = EMULATED_SHARED(a); }");
    expect("{ alignas(8 * (2)) __shared__ char a[2]; }", "{   char (&a)[2] = EMULATED_SHARED(a); }");
    expect("{ extern __shared__ float s[]; }", "{   float *const s = EMULATED_DYNAMIC_SHARED; }");
    expect("{ extern __shared__ __align__(16) struct t s [ ] ; }",
           "{    struct t *const s   = EMULATED_DYNAMIC_SHARED; }");
    expect("{ extern float __shared__ s[]; }", "{  float  *const s = EMULATED_DYNAMIC_SHARED; }");
    expect("{ unsigned __shared__ a[2]; }", "{ unsigned  (&a)[2] = EMULATED_SHARED(a); }");
    expect("{ extern __shared__ float s[][N + 1]; }", "{   float (*const s)[N + 1] = EMULATED_DYNAMIC_SHARED; }");
    expect("{ extern __align__(16) __shared__ float *s[]; }", "{    float **const s = EMULATED_DYNAMIC_SHARED; }");
}

static void test_shared_outside_of_functions(void **state)
{
    (void)state;
    outer_count = 0;
    expect(
        "__shared__ int a[2], b;\n__device__ int f() { return a[0] + b; }\nint g() { return b; }",
        "static inline auto &emulated_shared_a() {  int (&a)[2] = EMULATED_SHARED(a), &b = EMULATED_SHARED(b); return "
        "a; }\nstatic inline auto &emulated_shared_b() {  int (&a)[2] = EMULATED_SHARED(a), &b = EMULATED_SHARED(b); "
        "return b; }\n\n#line 1 \"x.cu\"\n\n__device__ int f() { auto &a = emulated_shared_a(); auto &b = "
        "emulated_shared_b(); return a[0] + b; }\nint g() { return b; }");
    outer_count = 0;
    expect(
        "namespace n {\nextern __shared__ float s[];\n__global__ void k(int *a) { s[0] = 1; }\n}",
        "namespace n {\nstatic inline auto *emulated_shared_s() {   float *const s = EMULATED_DYNAMIC_SHARED; return "
        "s; }\n\n#line 2 \"x.cu\"\n\n__global__ void k(int *a) { auto *const s = emulated_shared_s(); s[0] = 1; "
        "}\n}");
    outer_count = 0;
}

static void test_device_functions(void **state)
{
    (void)state;
    header_folder = ".";
    expect_same("__device__ int f() {\n#if __CUDA_ARCH__ >= 700\nreturn 1;\n#endif\n}\n");
    expect("__host__ __device__ int f() {\n#ifdef __CUDA_ARCH__\n#endif\n}\n",
           "__host__ __device__ int f() {\n#undef __CUDA_ARCH__\n#line 1 \"x.cu\"\n\n#ifdef "
           "__CUDA_ARCH__\n#endif\n\n#define __CUDA_ARCH__ 900\n#line 4 \"x.cu\"\n}\n");
    expect("int f() { return __CUDA_ARCH__; }", "int f() {\n#undef __CUDA_ARCH__\n#line 1 \"x.cu\"\n return "
                                                "__CUDA_ARCH__; \n#define __CUDA_ARCH__ 900\n#line 1 \"x.cu\"\n}");
    expect_same("int f() { asm(\"\"); }\n");
    header_folder = NULL;
    expect(
        "__device__ void f() { asm volatile(\"\"); }",
        "__device__ void f() { _Pragma(\"GCC error \\\"inline PTX is not supported by cu\\\"\") asm volatile(\"\"); }");
}

static void test_errors(void **state)
{
    (void)state;
    expect_error("int x;\nk<<<1, f(2>>>(x);\n",
                 "x.cu:2: this <<< has no >>> followed by '(', or brackets between do not match\n");
    expect_error("k<<<1, 2(x);", "x.cu:1: this <<< has no >>> followed by '(', or brackets between do not match\n");
    expect_error("k<<<1, 2>>>;", "x.cu:1: this <<< has no >>> followed by '(', or brackets between do not match\n");
    expect_error("k<<<1, [2)>>>(x);",
                 "x.cu:1: this <<< has no >>> followed by '(', or brackets between do not match\n");
    expect_error("\n\nk<<<1, 2>>>(x;\n}", "x.cu:3: the '(' after this launch's >>> is never closed\n");
    expect_error("x = <<<1, 2>>>(x);", "x.cu:1: no kernel before this <<<\n");
    expect_error("<<<1, 2>>>(x);", "x.cu:1: no kernel before this <<<\n");
    expect_error("k><<<1, 2>>>(x);", "x.cu:1: no kernel before this <<<\n");
    expect_error("\n/* no end", "x.cu:2: this comment never ends\n");
    expect_error("\n#define A /* no end", "x.cu:2: a comment in this directive never ends\n");
    expect_error("\"no end\n\"", "x.cu:1: this string or character never ends\n");
    expect_error("\n'", "x.cu:2: this string or character never ends\n");
    expect_error("R\"x(no end)\"", "x.cu:1: this string or character never ends\n");
    expect_error("R\"a delimiter with blanks()a delimiter with blanks\"",
                 "x.cu:1: this string or character never ends\n");
    static const char *const unreadable[] = {
        "__shared__ int a = 3;", "__shared__ int a[2] = {1, 2};", "__shared__ ;", "__shared__ int (*p)[3];",
        "__shared__ int a[2;",   "__shared__ int a, 3;",          "__shared__",   "__shared__ int a",
        "__shared__ f<int a;",   "extern __shared__ int a[2)];"};
    for (size_t i = 0; i < sizeof(unreadable) / sizeof(*unreadable); i++) {
        char text[100];

        snprintf(text, sizeof(text), "{\n%s", unreadable[i]);
        expect_error(text, "x.cu:2: cannot read this __shared__ declaration (wanted: type name[size]..., no initial "
                           "value)\n");
    }
}

/* No text that is cut off or changed may crash it or make it read past the end (AddressSanitizer looks on). */
static void test_damaged_input(void **state)
{
    static const char text[] =
        "k<15, A<2>><<<f(1), dim3{2}>>>(R\"x()x\", 'a');\n#define X /* */ \"s\"\n{ extern __shared__ "
        "__align__(16) T<3> a[]; __shared__ int *b[2][3], c; } ns::k<<<1, 2 >> 1>>>(\"\\\"\"); // e\n";
    static const char marks[] = "<>()[]{}\"'\\/*#;:,\n";
    uint64_t random = 1;

    (void)state;
    for (int i = 0; i < 2000; i++) {
        char damaged[sizeof(text)], *left;
        size_t length = sizeof(text) - 1;

        memcpy(damaged, text, sizeof(text));
        for (int change = 0; change < 1 + i % 3; change++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            damaged[(random >> 33) % length] = marks[(random >> 20) % (sizeof(marks) - 1)];
        }
        if (i % 2 == 0)
            length = (random >> 40) % length;
        damaged[length] = '\0';
        put("x.cu", damaged);
        assert_in_range(run("x.cu", "x.cpp"), 0, 2);
        left = take("x.err");
        free(left);
        remove("x.cpp");
    }
    remove("x.cu");
}

static void test_files(void **state)
{
    char *said, *text;

    (void)state;
    assert_int_equal(run("missing.cu", "x.cpp"), 2);
    said = take("x.err");
    assert_string_equal(said, "missing.cu: No such file or directory\n");
    free(said);
    put("x.cu", "int x;\n");
    assert_int_equal(run("x.cu", "missing/x.cpp"), 2);
    said = take("x.err");
    assert_string_equal(said, "missing/x.cpp: No such file or directory\n");
    free(said);
    assert_int_equal(run(".", "x.cpp"), 2);
    said = take("x.err");
    assert_string_equal(said, ".: Is a directory\n");
    free(said);
    assert_int_equal(mkdir("a \"b\"", 0700), 0);
    put("a \"b\"/x.cu", "int x;\n");
    assert_int_equal(run("a \"b\"/x.cu", "x.cpp"), 0);
    text = take("x.cpp");
    assert_string_equal(text, "#include <cuda_runtime.h>\n#line 1 \"a \\\"b\\\"/x.cu\"\nint x;\n");
    free(text);
    free(take("x.err"));
    remove("a \"b\"/x.cu");
    rmdir("a \"b\"");
    remove("x.cu");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_launches),
        cmocka_unit_test(test_launches_in_macros),
        cmocka_unit_test(test_shared_outside_of_functions),
        cmocka_unit_test(test_device_functions),
        cmocka_unit_test(test_casts_of_kernels),
        cmocka_unit_test(test_lines_stay),
        cmocka_unit_test(test_left_alone),
        cmocka_unit_test(test_closing_angles),
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_pragmas_and_attributes),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_damaged_input),
        cmocka_unit_test(test_files),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
