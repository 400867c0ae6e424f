/* serving/address.h - the path of the socket: address.c. */
#ifndef KVO_ADDRESS_H
#define KVO_ADDRESS_H

#include "platform/settings.h"

/** Listens on the socket that the setting names, and stores its path. Returns -1 if that is not possible or not safe, after a report. */
KVO_HIDDEN int kvo__address_listen(char path[KVO_SOCKET_PATH]);

#endif /* KVO_ADDRESS_H */
