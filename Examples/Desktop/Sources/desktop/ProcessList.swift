// The processes in a column view: the rows are the model's, and so are the order and the selection.

import CAdwaita
import HostModel
import KeyValueObserving
import KeyValueObservingGLib
import MonitorModel

@MainActor
final class ProcessList {
  private let view: OpaquePointer
  private let table: ProcessTable
  private let selection: OpaquePointer
  private var wasOnTop = true
  private var columns: [ProcessTable.Column: OpaquePointer] = [:]
  /// What the labels are bound to, by the addresses of their cells.
  private var bound: [UnsafeMutableRawPointer: BoundCell] = [:]

  init(_ view: UnsafeMutableRawPointer, _ table: ProcessTable) {
    self.view = OpaquePointer(view)
    self.table = table
    selection = gtk_single_selection_new(GLib.listModel(of: table, \.rows))
    gtk_single_selection_set_autoselect(selection, gboolean(0))
    gtk_single_selection_set_can_unselect(selection, gboolean(1))
    gtk_column_view_set_model(self.view, selection)
    g_object_unref(UnsafeMutableRawPointer(selection))
    for column in [ProcessTable.Column.name, .pid, .state, .cpu, .memory] { append(column) }

    table.observe(\.rows, options: .prior, for: self) { me, _, change in if change.isPrior { me.noteTop() } }
    GLib.connect(selection, "items-changed") { [unowned self] _ in stayOnTop() }
    showOrder()
    table.onChange(of: \.order, for: self) { me, _, _ in me.showOrder() }
    let sorter = gtk_column_view_get_sorter(self.view)
    GLib.connect(UnsafeMutableRawPointer(sorter!), "changed") { [unowned self] _ in takeOrder() }
    table.observe(\.selection, options: .initial, for: self) { me, _, _ in me.showSelection() }
    GLib.connect(selection, "notify::selected-item") { [unowned self] _ in
      let selected: HostProcess? = GLib.model(of: gtk_single_selection_get_selected_item(selection))
      if table.selection !== selected { table.selection = selected }
    }
  }

  // MARK: - Rows

  private func noteTop() { wasOnTop = gtk_adjustment_get_value(gtk_scrollable_get_vadjustment(view)) == 0 }

  /// GTK keeps the row that is on top there, wherever it is sorted to. For who has not scrolled, the first one is on top.
  private func stayOnTop() {
    guard wasOnTop else { return }
    // The list below the heads has the action.
    let list = gtk_widget_get_last_child(UnsafeMutableRawPointer(view).assumingMemoryBound(to: GtkWidget.self))
    let first = g_variant_ref_sink(g_variant_new_uint32(0))
    gtk_widget_activate_action_variant(list, "list.scroll-to-item", first)
    g_variant_unref(first)
  }

  // MARK: - Selection

  private func showSelection() {
    let position = table.selectedIndex.map(UInt32.init) ?? UInt32.max  // GTK_INVALID_LIST_POSITION
    if gtk_single_selection_get_selected(selection) != position {
      gtk_single_selection_set_selected(selection, position)
    }
  }

  // MARK: - Order

  private func showOrder() {
    let order = table.order
    guard askedOrder() != order else { return }
    let direction = order.isDescending ? GTK_SORT_DESCENDING : GTK_SORT_ASCENDING
    gtk_column_view_sort_by_column(view, columns[order.column], direction)
  }

  /// The user has clicked on the head of a column.
  private func takeOrder() {
    guard let order = askedOrder(), order != table.order else { return }
    // GTK begins with ascending values; the model knows with what each column begins.
    if order.column != table.order.column { table.sort(by: order.column) } else { table.order = order }
  }

  /// Returns the order that the heads show. GTK 4.8 has no function for it, but compares any two objects by that column first.
  private func askedOrder() -> ProcessTable.Order? {
    ColumnSorter.asked = nil
    let (one, another) = (UnsafeMutableRawPointer(view), UnsafeMutableRawPointer(selection))
    let result = gtk_sorter_compare(gtk_column_view_get_sorter(view), one, another)
    guard let asked = ColumnSorter.asked else { return nil }
    var order = table.order
    (order.column, order.isDescending) = (asked, result == GTK_ORDERING_LARGER)
    return order
  }

  // MARK: - Columns

  private func append(_ column: ProcessTable.Column) {
    let factory = gtk_signal_list_item_factory_new()!
    GLib.connect(factory, "setup") { values in
      let label = gtk_label_new(nil)
      gtk_label_set_xalign(OpaquePointer(label), column.isNumeric ? 1 : 0)
      gtk_label_set_ellipsize(OpaquePointer(label), column == .name ? PANGO_ELLIPSIZE_END : PANGO_ELLIPSIZE_NONE)
      gtk_list_item_set_child(Self.cell(values), label)
    }
    GLib.connect(factory, "bind") { [unowned self] values in
      let cell = Self.cell(values)
      guard let process: HostProcess = GLib.model(of: gtk_list_item_get_item(cell)) else { return }
      // GTK also calls this for a row that only moves.
      let address = UnsafeMutableRawPointer(cell)
      guard bound[address]?.process !== process else { return }
      bound[address]?.binding?.invalidate()
      let label = GLib.object(UnsafeMutableRawPointer(gtk_list_item_get_child(cell)))
      bound[address] = BoundCell(process: process, binding: column.bind(label, to: process))
    }
    GLib.connect(factory, "teardown") { [unowned self] values in
      bound.removeValue(forKey: UnsafeMutableRawPointer(Self.cell(values)))?.binding?.invalidate()
    }
    let made = gtk_column_view_column_new(column.title, factory)!
    gtk_column_view_column_set_resizable(made, gboolean(1))
    gtk_column_view_column_set_expand(made, gboolean(column == .name ? 1 : 0))
    let sorter = ColumnSorter.make(column)
    gtk_column_view_column_set_sorter(made, sorter)
    g_object_unref(UnsafeMutableRawPointer(sorter))
    gtk_column_view_append_column(view, made)
    g_object_unref(UnsafeMutableRawPointer(made))
    columns[column] = made
  }

  private static func cell(_ values: UnsafePointer<GValue>) -> OpaquePointer {
    OpaquePointer(g_value_get_object(values + 1))
  }
}

private struct BoundCell {
  weak var process: HostProcess?
  let binding: NSKeyValueObservation?
}

/// A sorter that says which column it is of: the model sorts.
@MainActor
private enum ColumnSorter {
  static var asked: ProcessTable.Column?

  static func make(_ column: ProcessTable.Column) -> UnsafeMutablePointer<GtkSorter> {
    let index = ProcessTable.Column.allCases.firstIndex(of: column)!
    let sorter = gtk_custom_sorter_new(
      { _, _, index in
        let index = Int(bitPattern: index) - 1
        MainActor.assumeIsolated { ColumnSorter.asked = ProcessTable.Column.allCases[index] }
        return gint(GTK_ORDERING_SMALLER.rawValue)
      }, UnsafeMutableRawPointer(bitPattern: index + 1), nil)
    return UnsafeMutableRawPointer(sorter!).assumingMemoryBound(to: GtkSorter.self)
  }
}

extension ProcessTable.Column {
  fileprivate var title: String {
    switch self {
    case .pid: "PID"
    case .state: "State"
    case .cpu: "CPU"
    case .memory: "Memory"
    case .name: "Name"
    }
  }

  fileprivate var isNumeric: Bool { self == .pid || self == .cpu || self == .memory }

  /// Binds the label of a cell to a process; the PID never changes.
  @MainActor
  fileprivate func bind(_ label: KeyValueRuntimeObject, to process: HostProcess) -> NSKeyValueObservation? {
    switch self {
    case .pid:
      label.label = "\(process.pid)"
      return nil
    case .state: return process.source(\.state).bind(to: label, \.label)
    case .cpu: return process.source(\.cpuShare).map(percent).bind(to: label, \.label)
    case .memory: return process.source(\.residentBytes).map(size).bind(to: label, \.label)
    case .name: return process.source(\.name).map(printable).bind(to: label, \.label)
    }
  }
}
