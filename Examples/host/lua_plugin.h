/* lua_plugin.h - the plug-in in Lua. All functions are called on the host's main thread. */
#ifndef LUA_PLUGIN_H
#define LUA_PLUGIN_H

#include <kvo/kvo.h>

/* Runs a Lua program, which returns its object; NULL if it fails. */
kvo_object *lua_plugin_start(const char *file, kvo_object *host);
/* Tells the program of the changes that other threads have made. False if it fails. */
bool lua_plugin_deliver(void);
/* Closes its state, which ends its object and its observations. */
void lua_plugin_stop(void);

#endif
