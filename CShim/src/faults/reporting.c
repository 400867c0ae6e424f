/* reporting.c - the memory and the stack in which a report is made. They are not the program's, because the thread's stack may be small,
 * such as that of a signal handler, and memory may be exhausted. */
#define _GNU_SOURCE
#include "faults/reporting.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------------------- Claiming -- */

/* This many reports can be made at the same time without mapping memory. */
enum { REPORTING_KEPT = 4 };
static kvo_report reporting_kept[REPORTING_KEPT];

static bool reporting_is_kept(const kvo_report *report) {
  return report >= reporting_kept && report < reporting_kept + REPORTING_KEPT;
}

static bool reporting_claim(kvo_report *report) {
  uintptr_t nobody = 0;
  if (!atomic_compare_exchange_strong(&report->owner, &nobody, kvo__own_mark())) return false;
  report->is_asked = false;
  return true;
}

/* Whether a report of this thread was abandoned by a longjmp out of the fault handler. A thread is in one handler at a time. */
static bool reporting_is_left(const kvo_report *report) {
  return atomic_load(&report->owner) == kvo__own_mark() && report->is_asked && !kvo__in_handler();
}

static kvo_report *claim_kept(void) {
  for (size_t i = 0; i < REPORTING_KEPT; i++)
    if (reporting_is_left(&reporting_kept[i])) {
      reporting_kept[i].is_asked = false;
      return &reporting_kept[i];
    }
  for (size_t i = 0; i < REPORTING_KEPT; i++)
    if (reporting_claim(&reporting_kept[i])) return &reporting_kept[i];
  return NULL;
}

static kvo_report *map_one(void) {
  void *memory = mmap(NULL, sizeof(kvo_report), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return NULL;
  kvo_report *report = memory;
  return reporting_claim(report) ? report : NULL;
}

/* Claims a report. If none is free and there is no memory, it waits for one, and ends the process if that takes too long. */
static kvo_report *claim_any(void) {
  for (int tries = 0; tries < 500; tries++) {
    kvo_report *report = claim_kept();
    if (report == NULL) report = map_one();
    if (report != NULL) return report;
    kvo__sleep(1);
  }
  static const char line[] = "KVO: there is no memory for a report\n";
  kvo__write_all(STDERR_FILENO, line, sizeof line - 1);
  kvo__die();
}

static void reporting_give_back(kvo_report *report) {
  if (reporting_is_kept(report))
    atomic_store(&report->owner, 0);
  else
    munmap(report, sizeof *report);
}

void kvo__reports_forked(void) {
  for (size_t i = 0; i < REPORTING_KEPT; i++) {
    if (atomic_load(&reporting_kept[i].owner) == kvo__own_mark()) continue;
    reporting_kept[i].is_asked = false;
    atomic_store(&reporting_kept[i].owner, 0);
  }
}

/* ------------------------------------------------------------------------------------------------------------ Beginning -- */

static kvo_sink text_in(char *memory, size_t capacity) {
  memory[0] = '\0';
  return (kvo_sink){.memory = memory, .capacity = capacity, .fd = -1};
}

kvo_report *kvo__report(kvo_fault_code code) {
  kvo__look_for_abandoned(); /* an abandoned fault handler, for instance, is then called again */
  return kvo__report_begin(code);
}

kvo_report *kvo__report_begin(kvo_fault_code code) {
  kvo_report *report = claim_any();
  memset(&report->fault, 0, sizeof report->fault);
  report->fault.code = code;
  report->fault.severity = kvo__severity_of(code);
  report->detail = text_in(report->detail_text, sizeof report->detail_text);
  report->apple = text_in(report->apple_text, sizeof report->apple_text);
  report->help = text_in(report->help_text, sizeof report->help_text);
  return report;
}

void kvo__report_end(kvo_report *report) { reporting_give_back(report); }

void kvo__report_concerns(kvo_report *report, const kvo_fault_observation *observations, size_t count,
                          kvo_place place) {
  report->fault.observations = observations;
  report->fault.observation_count = count;
  report->fault.object = count > 0 ? observations[0].object : NULL;
  report->fault.object_class = count > 0 ? observations[0].object_class : NULL;
  kvo__report_at(report, place);
}

void kvo__report_at(kvo_report *report, kvo_place place) {
  report->fault.file = place.file;
  report->fault.line = place.line;
}

static kvo_fault_site site_of(const char *label, kvo_place place) {
  return (kvo_fault_site){.label = label,
                          .file = place.file,
                          .file_length = place.file != NULL ? strlen(place.file) : 0,
                          .line = place.line,
                          .age = -1};
}

kvo_fault_site *kvo__report_site(kvo_report *report, const char *label, kvo_place place) {
  kvo_fault_site *site = &report->sites[report->fault.site_count++];
  *site = site_of(label, place);
  report->fault.sites = report->sites;
  return site;
}

/* ------------------------------------------------------------------------------------------------------ Another stack -- */

/* kvo__call_on(top, body, arg) calls body(arg) on the stack that ends at `top`. Debuggers and the unwinder find the caller through the
 * frame pointer. */
#if defined(__x86_64__) && !defined(__ILP32__)
#define KVO_SWITCHES_STACKS true
__asm__(".text\n"
        ".hidden kvo__call_on\n"
        ".type kvo__call_on, @function\n"
        "kvo__call_on:\n"
        "  .cfi_startproc\n"
        "  pushq %rbp\n"
        "  .cfi_def_cfa_offset 16\n"
        "  .cfi_offset %rbp, -16\n"
        "  movq %rsp, %rbp\n"
        "  .cfi_def_cfa_register %rbp\n"
        "  movq %rdi, %rsp\n"
        "  movq %rdx, %rdi\n"
        "  callq *%rsi\n"
        "  movq %rbp, %rsp\n"
        "  popq %rbp\n"
        "  .cfi_def_cfa %rsp, 8\n"
        "  retq\n"
        "  .cfi_endproc\n"
        ".size kvo__call_on, .-kvo__call_on\n");
#elif defined(__aarch64__)
#define KVO_SWITCHES_STACKS true
__asm__(".text\n"
        ".hidden kvo__call_on\n"
        ".type kvo__call_on, %function\n"
        "kvo__call_on:\n"
        "  .cfi_startproc\n"
        "  stp x29, x30, [sp, #-16]!\n"
        "  .cfi_def_cfa_offset 16\n"
        "  .cfi_offset x29, -16\n"
        "  .cfi_offset x30, -8\n"
        "  mov x29, sp\n"
        "  .cfi_def_cfa x29, 16\n"
        "  mov sp, x0\n"
        "  mov x0, x2\n"
        "  blr x1\n"
        "  mov sp, x29\n"
        "  ldp x29, x30, [sp], #16\n"
        "  .cfi_def_cfa sp, 0\n"
        "  ret\n"
        "  .cfi_endproc\n"
        ".size kvo__call_on, .-kvo__call_on\n");
#else
#define KVO_SWITCHES_STACKS false
#endif

#if KVO_SWITCHES_STACKS
KVO_HIDDEN void kvo__call_on(void *top, void (*body)(void *arg), void *arg);
#else
static void kvo__call_on(void *top, void (*body)(void *arg), void *arg) {
  (void)top;
  body(arg);
}
#endif

/* On an alternate signal stack other signals are blocked: the kernel looks at the stack pointer, would not notice that the alternate stack
 * is in use, and would run the next handler on top of it. */
void kvo__report_run(kvo_report *on, void (*body)(void *arg), void *arg) {
  sigset_t all, before;
  bool holds = kvo__on_signal_stack();
  if (holds) {
    static const int of_the_thread_itself[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP};
    sigfillset(&all);
    for (size_t i = 0; i < sizeof of_the_thread_itself / sizeof(int); i++) sigdelset(&all, of_the_thread_itself[i]);
    pthread_sigmask(SIG_BLOCK, &all, &before);
  }
  kvo__call_on(on->stack + sizeof on->stack, body, arg);
  if (holds) pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void store_chain(void *arg) {
  kvo_report *report = arg;
  report->fault.chain = report->steps;
  report->fault.chain_count = kvo__chain(report->steps, KVO_MAX_STEPS);
}

const kvo_fault_step *kvo__report_chain(kvo_report *report) {
  kvo__report_run(report, store_chain, report);
  return report->steps;
}

__attribute__((noinline)) void kvo__with_room(void (*body)(void *arg), void *arg) {
  kvo_report *report = claim_kept();
  if (report == NULL) report = map_one();
  if (report == NULL) { /* the program's stack has to do */
    body(arg);
    return;
  }
  kvo__report_run(report, body, arg);
  reporting_give_back(report);
}
