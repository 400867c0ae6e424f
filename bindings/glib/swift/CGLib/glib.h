/* glib.h - GLib, GObject and GIO as a module. */
#define G_SETTINGS_ENABLE_BACKEND /* for backends of one's own */
#include <gio/gio.h>
#include <gio/gsettingsbackend.h>
#include <glib-unix.h>
