/*
 * The least that a process can do with the engine: start, make a VM and a global object, evaluate 1, end. What `codemode run -e 1` takes
 * beyond it is ours; times.c times both in turn.
 */
#include <JavaScriptCore/JavaScript.h>

int main(void)
{
    JSGlobalContextRef realm = JSGlobalContextCreate(NULL);
    JSStringRef source = JSStringCreateWithUTF8CString("1");
    JSValueRef value = JSEvaluateScript(realm, source, NULL, NULL, 1, NULL);

    return value && JSValueToNumber(realm, value, NULL) == 1 ? 0 : 1;
}
