/* CSwiftRuntime.c - empty: the target only declares. */
