/**
 * The face of `bucketstore/testing`: the contract suites, for those who write a driver of their
 * own.
 */
export { blobContract } from './blob.ts';
export type { BlobContractOptions, BlobFixture, BlobSupports } from './blob-case.ts';
export { type StoreDifferentialOptions, storeDifferential } from './store/differential.ts';
export { storeContract } from './store/index.ts';
export type {
  ContractStore,
  ContractView,
  StoreContractOptions,
  StoreFixture,
  StoreSupports,
} from './store/store-case.ts';
