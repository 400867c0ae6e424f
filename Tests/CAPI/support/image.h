/* image.h - ELF files that a test makes, mapped like the code of a module. Nothing in them is executed. */
#ifndef KVO_TEST_IMAGE_H
#define KVO_TEST_IMAGE_H

#include <elf.h>
#include <stddef.h>

enum { IMAGE_SEGMENTS = 4, IMAGE_SECTIONS = 5, IMAGE_SYMBOLS = 6 };

/* The parts of a file, in their order. A test changes what it needs. */
typedef struct image {
  Elf64_Ehdr header;
  Elf64_Phdr segments[IMAGE_SEGMENTS];
  unsigned char notes[512];
  Elf64_Shdr sections[IMAGE_SECTIONS];
  Elf64_Sym symbols[IMAGE_SYMBOLS];
  char names[64];
} image;

/* An image with the function "inner" at `IMAGE_FUNCTION`, of `IMAGE_FUNCTION_SIZE` bytes, and a build-id of 20 bytes. Segments: the whole
 * file, the notes. Sections: none, the symbols (none, "inner"), their names. */
image image_make(void);
enum { IMAGE_FUNCTION = 0x100, IMAGE_FUNCTION_SIZE = 0x20 };

/* Adds a name, and returns its index. */
unsigned image_add_name(image *to, const char *name);

/* Writes the first `size` bytes of an image to a file of this name in the current directory. */
void image_write(const image *of, size_t size, const char *name);
/* Maps two pages from the beginning of the file, readable and executable, at the address, or anywhere if that is NULL. */
char *image_map(const char *name, void *at);
/* Does both with the whole image, and removes nothing. */
char *image_load(const image *of, const char *name);

/* The text of kvo_call_format for a call at the address. */
const char *image_call_at(const void *address);
/* The build-id of the module at an address as JSON: in quotes, or null. */
const char *image_build_id_at(const void *address);

#endif
