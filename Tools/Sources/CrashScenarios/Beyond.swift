// Faults without a row in the catalogue: key-value coding and collections.
internal import CCrashScenarios
import Foundation
import KeyValueObserving

private func nilValue() {
  let letter = Document("A letter")
  letter.setValue(nil, forKey: "pages")
}

private func unknownOperator() {
  let letter = Document("A letter")
  _ = letter.value(forKeyPath: "authors.@median.name")
}

private func positionOutside() {
  let letter = Document("A letter")
  letter.mutableArrayValue(for: \.authors).remove(at: 3)
}

private func nilCollection() {
  let letter = Document("A letter")
  letter.mutableArrayValue(for: \.lines).append("Dear Anna")
}

@KeyValueObservable
private final class Narcissus {
  var beauty = 0
  static func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> { ["beauty"] }
}

private func affectsItself() {
  let (narcissus, sidebar) = (Narcissus(), Panel())
  narcissus.addObserver(sidebar, forKeyPath: "beauty")  // site E39: registered
  narcissus.removeObserver(sidebar, forKeyPath: "beauty")
}

private func differentCounts() {
  let letter = Document("A letter")
  letter.mutableArrayValue(for: \.authors).insert([Author("Anna")], at: [0, 1])
}

var beyond: [Scenario] {
  [
    .init("E35", "35", nilValue),
    .init("E36", "36", unknownOperator),
    .init("E37", "37", positionOutside),
    .init("E38", "38", nilCollection),
    .init("E39", "39", affectsItself),
    .init("E40", "40", differentCounts),
  ]
}
