/* mutate.c - the fuzzer's mutations of a program: by whole operations, so that the rest keeps its meaning. */
#include "world.h"

#include <stdlib.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t capacity);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t capacity, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *left, size_t left_size, const uint8_t *right, size_t right_size,
                                 uint8_t *out, size_t capacity, unsigned seed);

static size_t operations_in(size_t size) { return size > HEADER_SIZE ? (size - HEADER_SIZE) / OPERATION_SIZE : 0; }
static size_t offset_of(size_t index) { return HEADER_SIZE + index * OPERATION_SIZE; }

static size_t below(unsigned *state, size_t bound) {
  *state = *state * 1103515245u + 12345u;
  return bound != 0 ? (*state >> 16) % bound : 0;
}

static void randomise(uint8_t *operation, unsigned *state) {
  for (int i = 0; i < OPERATION_SIZE; i++) operation[i] = (uint8_t)below(state, 256);
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t capacity, unsigned seed) {
  unsigned state = seed;
  size_t count = operations_in(size), most = operations_in(capacity);
  if (size < HEADER_SIZE || most == 0 || below(&state, 16) == 0) return LLVMFuzzerMutate(bytes, size, capacity);
  size_t at = below(&state, count + 1);
  uint8_t *here = bytes + offset_of(at), *end = bytes + offset_of(count), copy[OPERATION_SIZE];
  size_t choice = below(&state, 8);
  if (choice < 3 && count < most && count < PROGRAM_SIZE) { /* insert a new operation, or a copy of one */
    randomise(copy, &state);
    if (choice == 0 && count > 0) memcpy(copy, bytes + offset_of(below(&state, count)), OPERATION_SIZE);
    memmove(here + OPERATION_SIZE, here, (size_t)(end - here));
    memcpy(here, copy, OPERATION_SIZE);
    count++;
  } else if (at == count) { /* change the shapes */
    bytes[below(&state, HEADER_SIZE)] = (uint8_t)below(&state, 256);
  } else if (choice == 3) { /* erase */
    memmove(here, here + OPERATION_SIZE, (size_t)(end - here) - OPERATION_SIZE);
    count--;
  } else if (choice == 4) { /* move */
    uint8_t *other = bytes + offset_of(below(&state, count));
    memcpy(copy, here, OPERATION_SIZE);
    memcpy(here, other, OPERATION_SIZE);
    memcpy(other, copy, OPERATION_SIZE);
  } else if (choice == 5) {
    randomise(here, &state);
  } else { /* change one member */
    here[below(&state, OPERATION_SIZE)] = (uint8_t)below(&state, 256);
  }
  return offset_of(count);
}

/* Joins the beginning of one program and the end of another. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *left, size_t left_size, const uint8_t *right, size_t right_size,
                                 uint8_t *out, size_t capacity, unsigned seed) {
  unsigned state = seed;
  if (left_size < HEADER_SIZE) return 0;
  size_t begin = below(&state, operations_in(left_size) + 1), skipped = below(&state, operations_in(right_size) + 1);
  size_t count = operations_in(right_size) - skipped, most = operations_in(capacity);
  if (begin > most) begin = most;
  if (count > most - begin) count = most - begin;
  memcpy(out, left, offset_of(begin));
  memcpy(out + offset_of(begin), right + offset_of(skipped), count * OPERATION_SIZE);
  return offset_of(begin + count);
}
