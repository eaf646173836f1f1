import { testDriver } from '../driver-suite.ts'

await testDriver('reboot.ts')
