import { testDriver } from '../driver-suite.ts'

await testDriver('osimage-bootc.ts')
