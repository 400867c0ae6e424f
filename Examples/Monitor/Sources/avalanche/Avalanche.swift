// An avalanche: one set of one property causes 1325 notifications. Documentation/Diagnostics.md finds the cause.
//   avalanche TRACE GRAPH    writes the trace of the set, and the graph before it
import Foundation
import KeyValueObserving

@KeyValueObservable
final class Shop {
  var taxRate = 0.19
}

/// An item of the invoice. Its tax follows the rate, and its share follows the total.
@KeyValueObservable
final class Item {
  let price: Double
  var tax = 0.0
  var share = 0.0

  init(price: Double) { self.price = price }

  func follow(_ shop: Shop, in invoice: Invoice) {
    shop.onChange(of: \.taxRate, for: self) { item, _, rate in item.tax = item.price * rate }
    invoice.onChange(of: \.total, for: self) { item, _, total in item.share = item.price / total }
  }
}

/// Its total follows the tax of each item.
@KeyValueObservable
final class Invoice {
  @NotObserved var items: [Item] = []
  var total = 1.0

  func add(_ item: Item) {
    items.append(item)
    item.onChange(of: \.tax, for: self) { invoice, _, _ in invoice.update() }
  }

  func update() { total = items.reduce(0) { $0 + $1.price + $1.tax } }
}

/// What the user sees.
@KeyValueObservable
final class Window {
  @NotObserved var redraws = 0

  func show(_ invoice: Invoice) {
    invoice.onChange(of: \.total, for: self) { window, _, _ in window.redraws += 1 }
    for item in invoice.items {
      item.onChange(of: \.share, for: self) { window, _, _ in window.redraws += 1 }
    }
  }
}

@main
enum Avalanche {
  static func main() throws {
    guard CommandLine.arguments.count == 3 else { fatalError("usage: avalanche TRACE GRAPH") }
    let (shop, invoice, window) = (Shop(), Invoice(), Window())
    for number in 1...25 {
      let item = Item(price: Double(number))
      invoice.add(item)
      item.follow(shop, in: invoice)
    }
    window.show(invoice)
    try write(ObservationGraph.current().json, to: CommandLine.arguments[2])
    window.redraws = 0
    try ObservationTrace.begin(writingTo: CommandLine.arguments[1])
    raiseTaxes(in: shop)
    try ObservationTrace.end()
    print("One set, \(window.redraws) redraws")
  }

  static func raiseTaxes(in shop: Shop) {
    shop.taxRate = 0.21
  }

  static func write(_ text: String, to path: String) throws {
    try text.write(toFile: path, atomically: true, encoding: .utf8)
  }
}
