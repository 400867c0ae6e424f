// Rows: the C runtime alone, with a trampoline in front of the program's setter.

import CRows

extension Row {
  static var trampolines: [Row] {
    [
      Row(
        "C setter through a trampoline, 1 observer, old and new", subject: "libkvo",
        { Workload(run: crows_set_observed) },
        .here("bare libffi closure with ffi_call", bar: 1.2) { Workload(run: crows_set_bare_closure) },
        .glib("set-1", "notify::, 1 handler")),
      Row(
        "C setter of an unobserved object", subject: "libkvo", { Workload(run: crows_set_unobserved) },
        .here("call through a pointer") { Workload(run: crows_set_pointer) }),
    ]
  }
}
