/** Names of columns, and what the bits of one of them mean; `columns.ts` says the rest. */

/** Every column, in the order of their names. */
export const COLUMN_NAMES = [
  'bodies',
  'firsts',
  'flags',
  'importance_values',
  'importances',
  'modified',
  'modified_high',
  'pair_counts',
  'pairs',
  'paths',
  'stored',
  'tag_rows',
  'tags',
  'title_lengths',
  'titles',
  'versions',
  'word_rows',
  'words',
] as const;

export type ColumnName = (typeof COLUMN_NAMES)[number];

/** A bit of `flags`: the document is archived. */
export const ARCHIVED = 1;
/** A bit of `flags`: a segment of the path is hidden. */
export const HIDDEN = 2;
