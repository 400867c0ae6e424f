// Reactive libraries and Combine.
import Foundation
import KeyValueObserving
import Testing

extension ComingFromTests {
  @Test func `Reactive: observe`() {
    // snippet: Reactive: observe
    #expect(
      printed
      // prints: Reactive: observe
    )
  }

  @Test func `Reactive: old and new values`() {
    // snippet: Reactive: old and new values
    #expect(
      printed
      // prints: Reactive: old and new values
    )
  }

  @Test func `Reactive: operators`() {
    // snippet: Reactive: operators
    #expect(
      printed
      // prints: Reactive: operators
    )
  }

  @Test func `Reactive: bind`() {
    // snippet: Reactive: bind
    #expect(
      printed
      // prints: Reactive: bind
    )
  }

  @Test func `Reactive: nil values`() {
    // snippet: Reactive: nil values
    #expect(
      printed
      // prints: Reactive: nil values
    )
  }

  @Test func `Reactive: combineLatest`() {
    // snippet: Reactive: combineLatest
    #expect(
      printed
      // prints: Reactive: combineLatest
    )
  }

  @Test func `Reactive: merge`() {
    // snippet: Reactive: merge
    #expect(
      printed
      // prints: Reactive: merge
    )
  }

  @Test func `Reactive: two-way`() {
    // snippet: Reactive: two-way
    #expect(
      printed
      // prints: Reactive: two-way
    )
  }

  @Test func `Reactive: schedulers`() {
    // snippet: Reactive: schedulers
    #expect(
      printed
      // prints: Reactive: schedulers
    )
  }

  @Test func `Reactive: lifetime`() {
    // snippet: Reactive: lifetime
    #expect(
      printed
      // prints: Reactive: lifetime
    )
  }

  @Test func `Reactive: values`() async {
    // snippet: Reactive: values
    #expect(
      printed
      // prints: Reactive: values
    )
  }

  @Test func `Combine: sink`() {
    // snippet: Combine: sink
    #expect(
      printed
      // prints: Combine: sink
    )
  }

  @Test func `Combine: options`() {
    // snippet: Combine: options
    #expect(
      printed
      // prints: Combine: options
    )
  }

  @Test func `Combine: ObservableObject`() {
    // snippet: Combine: ObservableObject
    #expect(
      printed
      // prints: Combine: ObservableObject
    )
  }
}
