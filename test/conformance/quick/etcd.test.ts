import { testDriver } from '../driver-suite.ts'

await testDriver('etcd.ts')
