/* adwaita.h - libadwaita and GTK 4 as a module. */
#include <adwaita.h>
