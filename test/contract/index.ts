/**
 * The face of `bucketstore/testing`: the contract suites, for those who write a driver of their
 * own.
 */
export { blobContract } from './blob.ts';
export type { BlobContractOptions, BlobFixture, BlobSupports } from './blob-case.ts';
