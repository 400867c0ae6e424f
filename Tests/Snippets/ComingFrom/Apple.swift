// Cocoa Bindings and @Observable.
import Foundation
import KeyValueObserving
import Observation
import Testing

extension ComingFromTests {
  @Test func `Cocoa Bindings: bind`() {
    // snippet: Cocoa Bindings: bind
    #expect(
      printed
      // prints: Cocoa Bindings: bind
    )
  }

  @Test func `Cocoa Bindings: transformers`() {
    // statements: Cocoa Bindings: transformers
    #expect(
      printed
      // prints: Cocoa Bindings: transformers
    )
  }

  @Test func `Cocoa Bindings: placeholders`() {
    // snippet: Cocoa Bindings: placeholders
    #expect(
      printed
      // prints: Cocoa Bindings: placeholders
    )
  }

  @Test func `Cocoa Bindings: information and end`() {
    // snippet: Cocoa Bindings: information and end
    #expect(
      printed
      // prints: Cocoa Bindings: information and end
    )
  }

  @Test func `Observable: the class`() {
    // statements: Observable: the class
    #expect(
      printed
      // prints: Observable: the class
    )
  }

  @Test func `Observable: withObservationTracking`() {
    // snippet: Observable: withObservationTracking
    #expect(
      printed
      // prints: Observable: withObservationTracking
    )
  }

  @Test func `Observable: Observations`() async {
    // snippet: Observable: Observations
    #expect(
      printed
      // prints: Observable: Observations
    )
  }

  @Test func `Observable: SwiftUI's onChange`() {
    // snippet: Observable: SwiftUI's onChange
    #expect(
      printed
      // prints: Observable: SwiftUI's onChange
    )
  }

  @Test func `Observable: Bindable`() {
    // snippet: Observable: Bindable
    #expect(
      printed
      // prints: Observable: Bindable
    )
  }

  @Test func `Observable: several changes at once`() {
    // snippet: Observable: several changes at once
    #expect(
      printed
      // prints: Observable: several changes at once
    )
  }
}
