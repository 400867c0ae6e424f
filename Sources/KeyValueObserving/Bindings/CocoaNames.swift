// The names of Cocoa's bindings.

/// The name of a binding: the key of the property that it sets.
///
/// ```swift
/// field.bind(.value, to: person, withKeyPath: "name")
/// field.bind(NSBindingName("caption"), to: person, withKeyPath: "title")
/// ```
/// The constants have AppKit's values. Those that name a part of a view's appearance, such as a font or a colour, are left out; a name is
/// made of any key.
public struct NSBindingName: RawRepresentable, Hashable, Sendable {
  /// The key.
  public let rawValue: String

  /// Creates a name from a key.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Creates a name from a key.
  public init(_ rawValue: String) { self.rawValue = rawValue }
}

extension NSBindingName {
  /// The value that is shown and edited: `value`.
  public static let value = NSBindingName("value")
  /// The title: `title`.
  public static let title = NSBindingName("title")
  /// The label: `label`.
  public static let label = NSBindingName("label")
  /// The title of a header: `headerTitle`.
  public static let headerTitle = NSBindingName("headerTitle")
  /// The text of a tool tip: `toolTip`.
  public static let toolTip = NSBindingName("toolTip")
  /// The data that is shown: `data`.
  public static let data = NSBindingName("data")

  /// Whether the user can use it: `enabled`.
  public static let enabled = NSBindingName("enabled")
  /// Whether the user can change it: `editable`.
  public static let editable = NSBindingName("editable")
  /// Whether it is not shown: `hidden`.
  public static let hidden = NSBindingName("hidden")
  /// Whether it is shown: `visible`.
  public static let visible = NSBindingName("visible")
  /// Whether a document has unsaved changes: `documentEdited`.
  public static let documentEdited = NSBindingName("documentEdited")
  /// The path of the file that is shown: `representedFilename`.
  public static let representedFilename = NSBindingName("representedFilename")

  /// The least value: `minValue`.
  public static let minValue = NSBindingName("minValue")
  /// The greatest value: `maxValue`.
  public static let maxValue = NSBindingName("maxValue")
  /// The value from which a level is a warning: `warningValue`.
  public static let warningValue = NSBindingName("warningValue")
  /// The value from which a level is critical: `criticalValue`.
  public static let criticalValue = NSBindingName("criticalValue")
  /// Whether the amount of work is not known: `isIndeterminate`.
  public static let isIndeterminate = NSBindingName("isIndeterminate")
}

extension NSBindingName {
  /// The content of a controller or a list: `content`.
  public static let content = NSBindingName("content")
  /// The content as an array: `contentArray`.
  public static let contentArray = NSBindingName("contentArray")
  /// The content as a set: `contentSet`.
  public static let contentSet = NSBindingName("contentSet")
  /// The content as a dictionary: `contentDictionary`.
  public static let contentDictionary = NSBindingName("contentDictionary")
  /// The content as one object: `contentObject`.
  public static let contentObject = NSBindingName("contentObject")
  /// The objects that the content stands for: `contentObjects`.
  public static let contentObjects = NSBindingName("contentObjects")
  /// What is shown for each object of the content: `contentValues`.
  public static let contentValues = NSBindingName("contentValues")
  /// How the content is ordered: `sortDescriptors`.
  public static let sortDescriptors = NSBindingName("sortDescriptors")

  /// The position of the selected object: `selectedIndex`.
  public static let selectedIndex = NSBindingName("selectedIndex")
  /// The label of the selected object: `selectedLabel`.
  public static let selectedLabel = NSBindingName("selectedLabel")
  /// The selected object: `selectedObject`.
  public static let selectedObject = NSBindingName("selectedObject")
  /// The selected objects: `selectedObjects`.
  public static let selectedObjects = NSBindingName("selectedObjects")
  /// The tag of the selected object: `selectedTag`.
  public static let selectedTag = NSBindingName("selectedTag")
  /// What is shown for the selected object: `selectedValue`.
  public static let selectedValue = NSBindingName("selectedValue")
  /// What is shown for the selected objects: `selectedValues`.
  public static let selectedValues = NSBindingName("selectedValues")
  /// The positions of the selected objects: `selectionIndexes`.
  public static let selectionIndexes = NSBindingName("selectionIndexes")
}
