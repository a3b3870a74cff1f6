/**
 * What the emulator is strict about. Each rule follows a sentence of Google's documentation, here
 * in our words, and can be broken by a switch: the suites that run on the emulator are only worth
 * something if a server without the rule fails them. `caughtBy` names the case of the bucket
 * contract that then fails; a rule without one is about something that the driver does not depend
 * on, for the reason given.
 */

/** One rule of the service. */
export interface Rule {
  readonly says: string;
  /** Page and section. */
  readonly source: string;
  /** What the emulator does instead while the rule is broken. */
  readonly broken: string;
  /** The contract case that fails then, or why none does. */
  readonly caughtBy: string | { readonly none: string };
}

export type RuleName =
  | 'media-precondition'
  | 'multipart-precondition'
  | 'multipart-precondition-atomic'
  | 'match-generation'
  | 'resumable-precondition'
  | 'read-precondition'
  | 'delete-precondition'
  | 'read-after-write'
  | 'read-after-delete'
  | 'list-after-write'
  | 'list-byte-order'
  | 'list-prefix'
  | 'list-start-offset'
  | 'list-start-offset-inclusive'
  | 'list-end-offset'
  | 'list-max-results'
  | 'list-page-token'
  | 'range'
  | 'range-beyond-end'
  | 'upload-checksum'
  | 'download-checksum'
  | 'generation'
  | 'generation-gone'
  | 'object-names'
  | 'delete-absent'
  | 'date';

const NOT_SENT = { none: 'the driver never sends it' } as const;

export const rules: Readonly<Record<RuleName, Rule>> = {
  'media-precondition': {
    says:
      'A single-request media upload with ifGenerationMatch is refused with 412 unless the ' +
      'live generation is that one; 0 means no live object.',
    source: 'Cloud Storage docs, Request preconditions: Preconditions; JSON API, Objects: insert',
    broken: 'media uploads ignore ifGenerationMatch',
    caughtBy: { none: 'the driver uploads in the multipart form only, which has its own switch' },
  },
  'multipart-precondition': {
    says: 'The same holds for multipart uploads.',
    source: 'Cloud Storage docs, Request preconditions: Preconditions; JSON API, Objects: insert',
    broken: 'multipart uploads ignore ifGenerationMatch',
    caughtBy: 'DuplicateCreate',
  },
  'multipart-precondition-atomic': {
    says:
      'A precondition and the write it guards are one step: of concurrent writers with the ' +
      'same precondition one succeeds.',
    source: 'Cloud Storage docs, Request preconditions: Race conditions and data corruption',
    broken: 'multipart uploads check first and write a little later',
    caughtBy: 'ConcurrentCreate',
  },
  'match-generation': {
    says: 'A generation other than 0 matches a live object of exactly that generation.',
    source: 'Cloud Storage docs, Request preconditions: Preconditions',
    broken: 'any live object matches',
    caughtBy: 'ReplaceCAS',
  },
  'resumable-precondition': {
    says:
      'The precondition of a resumable upload is given when it starts and holds when it ' +
      'completes.',
    source: 'Cloud Storage docs, Resumable uploads: Considerations; JSON API, Objects: insert',
    broken: 'resumable uploads ignore ifGenerationMatch',
    caughtBy: { none: 'the driver uploads in the multipart form only, which has its own switch' },
  },
  'read-precondition': {
    says:
      'A read with ifGenerationMatch answers 412 on another generation, with ' +
      'ifGenerationNotMatch 304 on the same.',
    source: 'Cloud Storage docs, Request preconditions: Preconditions; JSON API, Objects: get',
    broken: 'reads ignore both',
    caughtBy: NOT_SENT,
  },
  'delete-precondition': {
    says:
      'A delete with ifGenerationMatch or ifGenerationNotMatch is refused with 412 when it ' +
      'does not hold.',
    source: 'JSON API, Objects: delete',
    broken: 'deletes ignore both',
    caughtBy: NOT_SENT,
  },
  'read-after-write': {
    says: 'Reads are strongly consistent after a write, of data and of metadata.',
    source: 'Cloud Storage docs, Consistency: Strongly consistent operations',
    broken: 'the first read of an object after it was written does not see that write',
    caughtBy: 'RoundTrips',
  },
  'read-after-delete': {
    says: 'A read after a delete answers 404.',
    source: 'Cloud Storage docs, Consistency: Strongly consistent operations',
    broken: 'the first read after a delete still finds the object',
    caughtBy: 'UnconditionalDelete',
  },
  'list-after-write': {
    says: 'A list after a write shows the object.',
    source: 'Cloud Storage docs, Consistency: Strongly consistent operations',
    broken: 'the first list after a write leaves the object out',
    caughtBy: 'List',
  },
  'list-byte-order': {
    says: 'Objects are listed in the order of the UTF-8 bytes of their names.',
    source: 'Cloud Storage docs, Listing objects: Behavior of listed objects',
    broken: 'the order is that of UTF-16 units',
    caughtBy: 'ByteOrderOver1000Keys',
  },
  'list-prefix': {
    says: 'With prefix only objects whose names begin with it are listed.',
    source: 'JSON API, Objects: list, prefix',
    broken: 'the last character of the prefix is not looked at',
    caughtBy: 'List',
  },
  'list-start-offset': {
    says:
      'With startOffset names equal to or after it are listed; it need not be the name of ' +
      'an object.',
    source: 'JSON API, Objects: list, startOffset',
    broken: 'when no object has that name, the first one after it is left out',
    caughtBy: 'OffsetThatNamesNoKey',
  },
  'list-start-offset-inclusive': {
    says: 'The object whose name equals startOffset is listed.',
    source: 'JSON API, Objects: list, startOffset',
    broken: 'startOffset is exclusive',
    caughtBy: { none: 'the driver drops that object, so it is right in both ways' },
  },
  'list-end-offset': {
    says: 'With endOffset only names before it are listed.',
    source: 'JSON API, Objects: list, endOffset',
    broken: 'endOffset is inclusive',
    caughtBy: NOT_SENT,
  },
  'list-max-results': {
    says: 'A page has at most maxResults objects.',
    source: 'JSON API, Objects: list, maxResults',
    broken: 'a page may have one more',
    caughtBy: { none: 'the driver cuts the page and goes on from its last key' },
  },
  'list-page-token': {
    says: 'A page that leaves objects out has a nextPageToken, and the list goes on from there.',
    source: 'JSON API, Objects: list, pageToken',
    broken: 'there is no token',
    caughtBy: 'List',
  },
  range: {
    says: 'A range request answers 206 with those bytes, the end clipped to the object.',
    source: 'Cloud Storage docs, Request endpoints and headers: Range',
    broken: 'ranges are ignored',
    caughtBy: 'RangeReads',
  },
  'range-beyond-end': {
    says: 'A range that begins at or beyond the end answers 416.',
    source: 'Cloud Storage docs, HTTP status and error codes for JSON: 416',
    broken: 'it answers 206 with the last byte',
    caughtBy: 'RangeReads',
  },
  'upload-checksum': {
    says:
      'An upload whose bytes do not match the md5Hash, crc32c, x-goog-hash or Content-MD5 ' +
      'given with it is refused with 400.',
    source: 'Cloud Storage docs, Data validation: Server-side validation',
    broken: 'checksums of uploads are not looked at',
    caughtBy: { none: 'the driver sends true checksums; the tests of the driver damage an upload' },
  },
  'download-checksum': {
    says: 'Downloads carry the checksum of the whole object in x-goog-hash.',
    source: 'Cloud Storage docs, Data validation: Client-side validation',
    broken: 'the checksum is that of other bytes',
    caughtBy: 'RoundTrips',
  },
  generation: {
    says: 'Each write of a name gives a new generation, also after a delete.',
    source: 'Cloud Storage docs, Object Versioning: Generations',
    broken: 'all objects of a name have one generation',
    caughtBy: 'ReplaceCAS',
  },
  'generation-gone': {
    says: 'Without versioning, a read that names a generation that is not live answers 404.',
    source: 'Cloud Storage docs, Object Versioning: Overview',
    broken: 'the parameter generation is ignored',
    caughtBy: NOT_SENT,
  },
  'object-names': {
    says: 'Names are 1 to 1024 bytes of UTF-8 without CR and LF, and not "." or "..".',
    source: 'Cloud Storage docs, Objects: Object names',
    broken: 'any name is taken',
    caughtBy: { none: 'the driver refuses such keys before it sends anything' },
  },
  'delete-absent': {
    says: 'A delete of an object that does not exist answers 404.',
    source: 'JSON API, Objects: delete; HTTP status and error codes for JSON: 404',
    broken: 'it answers 204',
    caughtBy: { none: 'both are success to the driver' },
  },
  date: {
    says: 'Every answer has a Date header.',
    source: 'Cloud Storage docs, HTTP response headers: Date',
    broken: 'there is none',
    caughtBy: { none: 'the port promises it where the service has it; the driver tests look' },
  },
};

/**
 * Not switches of a rule but modes, off unless asked for: the soft limit of one mutation per
 * second per object name (Cloud Storage docs, Quotas and limits: Objects), 401 without the
 * expected token and 403 for a missing permission (HTTP status and error codes for JSON: 401,
 * 403), 404 for a bucket that does not exist (the same: 404), and the faults of `faults.ts`,
 * which are no rules of the service at all.
 */
export const ruleNames: readonly RuleName[] = Object.keys(rules) as RuleName[];
