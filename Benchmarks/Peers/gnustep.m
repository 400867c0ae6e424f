/* gnustep.m - the peer GNUstep: Foundation's own Key-Value Observing, in Objective-C. */
#include "serving.h"

#import <Foundation/Foundation.h>

@interface Subject : NSObject {
  NSInteger number;
  Subject *head;
  NSMutableArray *items;
}
- (NSInteger)number;
- (void)setNumber:(NSInteger)value;
- (Subject *)head;
- (void)setHead:(Subject *)value;
- (NSInteger)doubled;
- (NSArray *)items;
- (void)setSilently:(NSInteger)value;
- (void)insertItem:(id)item atIndex:(NSUInteger)index;
- (void)removeLastSilently;
- (void)insertObject:(id)item inItemsAtIndex:(NSUInteger)index;
- (void)removeObjectFromItemsAtIndex:(NSUInteger)index;
@end

@implementation Subject

/* GNUstep does not call keyPathsForValuesAffectingDoubled; this is its older equivalent. */
+ (void)initialize {
  if (self == [Subject class])
    [self setKeys:[NSArray arrayWithObject:@"number"] triggerChangeNotificationsForDependentKey:@"doubled"];
}

- (id)init {
  if ((self = [super init]) != nil) items = [NSMutableArray new];
  return self;
}

- (void)dealloc {
  [head release];
  [items release];
  [super dealloc];
}

- (NSInteger)number {
  return number;
}
- (void)setNumber:(NSInteger)value {
  number = value;
}
- (Subject *)head {
  return head;
}
- (void)setHead:(Subject *)value {
  ASSIGN(head, value);
}
- (NSInteger)doubled {
  return number * 2;
}
- (NSArray *)items {
  return items;
}
- (void)setSilently:(NSInteger)value {
  number = value;
}

- (void)insertItem:(id)item atIndex:(NSUInteger)index {
  NSIndexSet *indexes = [NSIndexSet indexSetWithIndex:index];
  [self willChange:NSKeyValueChangeInsertion valuesAtIndexes:indexes forKey:@"items"];
  [items insertObject:item atIndex:index];
  [self didChange:NSKeyValueChangeInsertion valuesAtIndexes:indexes forKey:@"items"];
}

- (void)removeLastSilently {
  [items removeLastObject];
}

/* What the proxy calls. */
- (void)insertObject:(id)item inItemsAtIndex:(NSUInteger)index {
  [items insertObject:item atIndex:index];
}
- (void)removeObjectFromItemsAtIndex:(NSUInteger)index {
  [items removeObjectAtIndex:index];
}

@end

/* Adds the values in the change dictionary. */
@interface Observer : NSObject
@end

@implementation Observer

- (void)observeValueForKeyPath:(NSString *)path
                      ofObject:(id)object
                        change:(NSDictionary *)change
                       context:(void *)context {
  (void)path;
  (void)object;
  (void)context;
  sum += [[change objectForKey:NSKeyValueChangeOldKey] integerValue] +
         [[change objectForKey:NSKeyValueChangeNewKey] integerValue];
}

@end

/* Counts changes that have no value. */
@interface Counter : NSObject
@end

@implementation Counter

- (void)observeValueForKeyPath:(NSString *)path
                      ofObject:(id)object
                        change:(NSDictionary *)change
                       context:(void *)context {
  (void)path;
  (void)object;
  (void)context;
  sum += (long)[[change objectForKey:NSKeyValueChangeIndexesKey] count] + 1;
}

@end

enum { OLD_AND_NEW = NSKeyValueObservingOptionOld | NSKeyValueObservingOptionNew };

static char context;
static Subject *subject;
static Subject *leaves[2];
static Observer *observer;
static Counter *counter;

static void observe(Subject *object, id who, NSString *path, NSKeyValueObservingOptions options) {
  [object addObserver:who forKeyPath:path options:options context:&context];
}

/* A process runs one row, so there is no cleanup. */
static void make_unobserved(void) {
  subject = [Subject new];
  observer = [Observer new];
  counter = [Counter new];
}

static void make_none(void) {
  make_unobserved();
  observe(subject, counter, @"number", 0);
}

static void make_new(void) {
  make_unobserved();
  observe(subject, observer, @"number", NSKeyValueObservingOptionNew);
}

static void make_old_new(void) {
  make_unobserved();
  observe(subject, observer, @"number", OLD_AND_NEW);
}

static void make_prior(void) {
  make_unobserved();
  observe(subject, observer, @"number", OLD_AND_NEW | NSKeyValueObservingOptionPrior);
}

static void make_10(void) {
  make_unobserved();
  for (int i = 0; i < 10; i++) observe(subject, [Counter new], @"number", 0);
}

static void make_100(void) {
  make_unobserved();
  for (int i = 0; i < 100; i++) observe(subject, [Counter new], @"number", 0);
}

static void make_nested(void) {
  make_unobserved();
  leaves[0] = [Subject new];
  leaves[1] = [Subject new];
  [leaves[1] setNumber:1];
  [subject setHead:leaves[0]];
  observe(subject, observer, @"head.number", NSKeyValueObservingOptionNew);
}

static void make_dependent(void) {
  make_unobserved();
  observe(subject, observer, @"doubled", NSKeyValueObservingOptionNew);
}

static void make_items(void) {
  make_unobserved();
  observe(subject, counter, @"items", NSKeyValueObservingOptionNew);
}

/* Autoreleased objects are freed after a thousand operations, as in one iteration of a run loop. */
#define REPEAT(count, index, operation)                                                                                \
  for (long index = 0; index < (count);) {                                                                             \
    NSAutoreleasePool *pool = [NSAutoreleasePool new];                                                                 \
    for (long end = index + 1000 < (count) ? index + 1000 : (count); index < end; index++) operation;                  \
    [pool release];                                                                                                    \
  }

static void set(long count) { REPEAT(count, i, [subject setNumber:i]) }

static void set_leaf(long count) { REPEAT(count, i, [leaves[0] setNumber:i]) }

static void replace_head(long count) { REPEAT(count, i, [subject setHead:leaves[i & 1]]) }

static void announce(long count) {
  REPEAT(count, i, {
    [subject willChangeValueForKey:@"number"];
    [subject setSilently:i];
    [subject didChangeValueForKey:@"number"];
  })
}

static void insert(long count) {
  id item = [NSNumber numberWithInteger:1000];
  REPEAT(count, i, {
    [subject insertItem:item atIndex:0];
    [subject removeLastSilently];
  })
}

static void insert_through_proxy(long count) {
  id item = [NSNumber numberWithInteger:1000];
  REPEAT(count, i, {
    [[subject mutableArrayValueForKey:@"items"] insertObject:item atIndex:0];
    if ((i & 255) == 255) [(NSMutableArray *)[subject items] removeAllObjects];
  })
}

static void add_and_remove(long count) {
  REPEAT(count, i, {
    observe(subject, observer, @"number", 0);
    [subject removeObserver:observer forKeyPath:@"number"];
  })
}

static void make_priced(void) {
  make_unobserved();
  for (int i = 0; i < 10000; i++) {
    Subject *object = [Subject new];
    [object setNumber:i & 255];
    [(NSMutableArray *)[subject items] addObject:object];
    [object release];
  }
}

/* One operation autoreleases many objects. */
static void add_up(long count) {
  for (long i = 0; i < count; i++) {
    NSAutoreleasePool *pool = [NSAutoreleasePool new];
    sum += [[subject valueForKeyPath:@"items.@sum.number"] integerValue];
    [pool release];
  }
}

static NSMutableArray *fresh;

static void prepare_fresh(long count) {
  NSAutoreleasePool *pool = [NSAutoreleasePool new];
  for (Subject *object in fresh) [object removeObserver:observer forKeyPath:@"number"];
  [fresh release];
  fresh = [[NSMutableArray alloc] initWithCapacity:(NSUInteger)count];
  for (long i = 0; i < count; i++) {
    Subject *object = [Subject new];
    [fresh addObject:object];
    [object release];
  }
  [pool release];
}

static void observe_fresh(long count) {
  REPEAT(count, i, observe([fresh objectAtIndex:(NSUInteger)i], observer, @"number", 0))
}

int main(void) {
  static const row rows[] = {
      {"set-unobserved", make_unobserved, NULL, set, false},
      {"set-none", make_none, NULL, set, true},
      {"set-new", make_new, NULL, set, true},
      {"set-old-new", make_old_new, NULL, set, true},
      {"set-prior", make_prior, NULL, set, true},
      {"set-10", make_10, NULL, set, true},
      {"set-100", make_100, NULL, set, true},
      {"leaf", make_nested, NULL, set_leaf, true},
      {"head", make_nested, NULL, replace_head, true},
      {"dependent", make_dependent, NULL, set, true},
      {"manual", make_new, NULL, announce, true},
      {"insert", make_items, NULL, insert, true},
      {"proxy", make_items, NULL, insert_through_proxy, true},
      {"sum", make_priced, NULL, add_up, true},
      {"observe", make_unobserved, NULL, add_and_remove, false},
      {"observe-observed", make_none, NULL, add_and_remove, false},
      {"first", make_unobserved, prepare_fresh, observe_fresh, false},
  };
  NSAutoreleasePool *pool = [NSAutoreleasePool new];
  int status = serve(rows, sizeof rows / sizeof rows[0]);
  [pool release];
  return status;
}
