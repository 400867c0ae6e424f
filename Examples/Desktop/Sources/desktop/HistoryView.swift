// The use of the machine in the last samples, drawn with cairo.

import CAdwaita
import HostModel
import KeyValueObserving
import MonitorModel

@MainActor
final class HistoryView {
  private let area: UnsafeMutablePointer<GtkDrawingArea>
  private let history: History
  private static let margin = (left: 40.0, right: 10.0, top: 22.0, bottom: 20.0)

  init(_ area: UnsafeMutableRawPointer, _ history: History) {
    self.area = area.assumingMemoryBound(to: GtkDrawingArea.self)
    self.history = history
    gtk_drawing_area_set_draw_func(
      self.area,
      { _, cairo, width, height, data in
        nonisolated(unsafe) let cairo = cairo!
        let view = Unmanaged<HistoryView>.fromOpaque(data!).takeUnretainedValue()
        MainActor.assumeIsolated { view.draw(cairo, Double(width), Double(height)) }
      }, Unmanaged.passUnretained(self).toOpaque(), nil)
    history.observe(\.points, for: self) { me, _, _ in
      gtk_widget_queue_draw(UnsafeMutableRawPointer(me.area).assumingMemoryBound(to: GtkWidget.self))
    }
  }

  private func draw(_ cairo: OpaquePointer, _ width: Double, _ height: Double) {
    var text = GdkRGBA()
    gtk_style_context_get_color(
      gtk_widget_get_style_context(UnsafeMutableRawPointer(area).assumingMemoryBound(to: GtkWidget.self)), &text)
    let margin = Self.margin
    let (plotWidth, plotHeight) = (width - margin.left - margin.right, height - margin.top - margin.bottom)
    func y(_ fraction: Double) -> Double { margin.top + plotHeight * (1 - fraction) }
    cairo_set_font_size(cairo, 10)
    cairo_set_line_width(cairo, 1)
    for fraction in [0, 0.5, 1] {
      set(cairo, text, 0.15)
      cairo_move_to(cairo, margin.left, y(fraction).rounded() + 0.5)
      cairo_rel_line_to(cairo, plotWidth, 0)
      cairo_stroke(cairo)
      set(cairo, text, 0.6)
      write(cairo, padded("\(Int(fraction * 100)) %", 5), 6, y(fraction) + 4)
    }
    write(cairo, history.points.span, margin.left, height - 6)
    let cpu = GdkRGBA(red: 0.21, green: 0.52, blue: 0.89, alpha: 1)
    let memory = GdkRGBA(red: 0.90, green: 0.38, blue: 0, alpha: 1)
    line(cairo, memory, \.memory, plotWidth, y)
    line(cairo, cpu, \.cpu, plotWidth, y)
    if let last = history.points.last {
      set(cairo, cpu, 1)
      write(cairo, "CPU \(decimal(last.cpu * 100, 1)) %", margin.left, 14)
      set(cairo, memory, 1)
      write(cairo, "memory \(decimal(last.memory * 100, 1)) %", margin.left + 90, 14)
    }
  }

  private func line(
    _ cairo: OpaquePointer, _ color: GdkRGBA, _ value: KeyPath<History.Point, Double>, _ width: Double,
    _ y: (Double) -> Double
  ) {
    let points = history.points
    guard points.count > 1 else { return }
    let step = width / Double(max(points.count, History.leastShown) - 1)
    let begin = Self.margin.left + width - step * Double(points.count - 1)
    cairo_new_path(cairo)
    for (index, point) in points.enumerated() {
      cairo_line_to(cairo, begin + step * Double(index), y(point[keyPath: value]))
    }
    set(cairo, color, 1)
    cairo_set_line_width(cairo, 1.5)
    cairo_stroke_preserve(cairo)
    cairo_line_to(cairo, Self.margin.left + width, y(0))
    cairo_line_to(cairo, begin, y(0))
    set(cairo, color, 0.12)
    cairo_fill(cairo)
  }

  private func set(_ cairo: OpaquePointer, _ color: GdkRGBA, _ alpha: Double) {
    cairo_set_source_rgba(cairo, Double(color.red), Double(color.green), Double(color.blue), alpha)
  }

  private func write(_ cairo: OpaquePointer, _ text: String, _ x: Double, _ y: Double) {
    cairo_move_to(cairo, x, y)
    cairo_show_text(cairo, text)
  }
}
