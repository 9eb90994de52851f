export { grpcOutcomes } from './grpc/outcomes.ts';
export type { GrpcOptions, RetryThrottling } from './grpc/outcomes.ts';
export { policyFromServiceConfig } from './grpc/service-config.ts';
