import { testDriver } from '../driver-suite.ts'

await testDriver('kubelet.ts')
