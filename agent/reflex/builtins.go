package reflex

// Builtins returns the sentences that every board knows. They call the operations help, time, status, temperature,
// remember, recall, notes and forget.
func Builtins() []Reflex {
	return []Reflex{help(), clockTime(), status(), temperature(), remember(), recall(), notes(), forget()}
}

func help() Reflex {
	return Reflex{
		ID: "help", Op: "help",
		Templates: map[string][]string{
			"en": {"help [me]", "(what can|what're) you [able to] do", "what (do|can) you (do|help with)",
				"what are you able to do", "what can you (help|do for) me [with]", "show [me] [the] help",
				"(what commands|which commands) [do|can] you (know|understand|have)", "[list|show] [me] [the|your] commands"},
			"zh": {"帮助 [一下]", "你 [都] (能|会|可以) [做|干] (什么|啥|些什么) [呢|呀|啊|吗]",
				"[你] [都] 有 (什么|哪些) 功能 [呢|呀|啊]", "(怎么|如何) 用 [你]"},
		},
		Examples: map[string][]string{
			"en": {"help", "What can you do?", "what do you do", "what are you able to do?", "what can you help me with?",
				"show me the help", "what commands do you know", "commands"},
			"zh": {"帮助", "你能做什么？", "你有什么功能", "怎么用"},
		},
	}
}

func clockTime() Reflex {
	return Reflex{
		ID: "time", Op: "time",
		Templates: map[string][]string{
			"en": {"what time is it [right] [now]", "(what's|what is) the [current] time [right] [now]",
				"(what's|what is) the [current] (date|day) [today]", "(what's|what is) today's date",
				"(what day|what date|which day) is it [today]", "what (day|date) is today", "what's today",
				"tell me the (time|date) [now]", "do you (know|have) (the time|what time it is)", "[the] [current] (time|date)"},
			"zh": {"[现在] [是] 几点 [钟] [了] [呢|呀|啊]", "[告诉我] [现在] [是] 什么时间 [了] [呢]", "[现在] (时间|几时) [是] [多少]",
				"今天 [是] (几号|几月几号|几月几日|星期几|周几|礼拜几|什么日子) [了] [呢|呀|啊]", "今天的日期 [是什么|是多少]", "现在是什么时候 [了]"},
		},
		Examples: map[string][]string{
			"en": {"what time is it", "what's the time?", "What is the date today?", "what's today's date", "what day is it today",
				"what day is today", "what's today?", "tell me the time please", "do you know what time it is?", "current time"},
			"zh": {"现在几点了？", "什么时间了", "现在时间", "今天几号", "今天的日期", "现在是什么时候"},
		},
	}
}

func status() Reflex {
	return Reflex{
		ID: "status", Op: "status",
		Templates: map[string][]string{
			"en": {"[show] [me] [the] [board|board's|system|your] status", "(what's|what is) (your|the board's|the system) status",
				"how is the board [doing]", "how's the board [doing]", "status of the (board|system)"},
			"zh": {"[查看|看看|显示] [一下] [板子|主板|系统|你] [的] [当前|运行] 状态 [怎么样|如何] [呢]", "(板子|主板|系统) (怎么样|还好吗|正常吗) [了|呢]"},
		},
		Examples: map[string][]string{
			"en": {"Board status", "what's your status?", "how is the board doing?", "how's the board?", "status of the board"},
			"zh": {"状态", "板子怎么样了"},
		},
	}
}

func temperature() Reflex {
	return Reflex{
		ID: "temperature", Op: "temperature",
		Templates: map[string][]string{
			"en": {"how (warm|hot|cold) (is the board|is the cpu|is the processor|are you) [right] [now]",
				"[show] [me] [the] (board|cpu|processor) (temperature|temp) [right] [now]",
				"(what's|what is) (the board|the board's|the cpu|the cpu's|the processor|your) (temperature|temp) [right] [now]",
				"(what's|what is) the temperature of (the board|the cpu|the processor) [right] [now]"},
			"zh": {"[现在] (板子|主板|处理器|你) [的] [现在] [温度] [是] (多少度|几度|多热|多烫) [了] [呢|呀|啊]",
				"(板子|主板|处理器) [现在] 有 (多热|多烫|多少度) [了] [呢]", "[查看|看看] [一下] (板子|主板|处理器|cpu) [的] 温度 [是多少|多少|怎么样|高吗|高不高] [呢]",
				"你 [现在] 有 (多热|多烫)", "(板子|主板|处理器|你) [现在] (热吗|烫吗|热不热|烫不烫)", "[现在] cpu [的] [温度] [是] (多少度|几度|多热) [了]"},
		},
		Examples: map[string][]string{
			"en": {"How warm is the board?", "board temperature", "what's the cpu temperature?", "what is the temperature of the board"},
			"zh": {"板子多少度", "主板有多热？", "板子温度", "你有多热", "板子热不热", "CPU多少度"},
		},
	}
}

func remember() Reflex {
	return Reflex{
		ID: "remember", Op: "remember", Args: "{what}", Owner: true, Statement: true,
		Templates: map[string][]string{
			"en": {"remember {what:text(300)}", "remember that {what:text(300)}", "remember for me that {what:text(300)}",
				"(make|take) a note that {what:text(300)}", "note down {what:text(300)}", "note that {what:text(300)}",
				"don't forget that {what:text(300)}", "make a note (of|about) {what:text(300)}"},
			"zh": {"[你] [要|帮我|给我] 记住 {what:text(300)}", "[你] [要|帮我|给我] 记一下 {what:text(300)}",
				"[你] [帮我|给我] 记下 {what:text(300)}", "[你] [要] 记下来 {what:text(300)}", "记 [个|条|一条] 笔记 {what:text(300)}", "把 {what:text(300)} 记下来", "把 {what:text(300)} 记住"},
		},
		Except: map[string][]string{
			"en": {"remember (this|that|it|them|these|those|me|us|him|her|all|everything|anything|nothing)",
				"remember [that] (when|why|how|who|what|where|which|whose|if|whether) {x:text(300)}",
				"remember (me|us|him|her|them|it|this) {x:text(300)}", "remember that (time|day|night|movie|song) {x:text(300)}",
				"remember nothing {x:text(300)}", "note (that|down) (this|that|it|them)", "don't forget that"},
			"zh": {"[你] [要|帮我|给我] (记住|记一下|记下|记下来) (我|你|他|她|它|这|那|这个|那个|这些|那些|这件事|这句话|了|吧|啊|呀|哦|的)",
				"[你] [要|帮我|给我] (记住|记下|记一下|记下来) (了|没|没有|过|的|不) {x:text(300)}", "把 (这个|那个|它|这些|这|那) (记下来|记住)",
				"[你] [帮我|给我] 记下 来 (我|这|那|这个|那个|了|吧)",
				"[你] [要|帮我|给我] (记住|记下) {x:text(300)} (什么|没有|没)", "把 {x:text(300)} (记下来|记住) 了没"},
		},
		Examples: map[string][]string{
			"en": {"Remember the spare key is at Anna's", "remember that the gate code is 4711", "remember for me that Tom is allergic to nuts",
				"make a note that the boiler was serviced", "note down the wifi password is hunter2", "note that bins go out on Friday",
				"don't forget that the rent is due", "make a note about the broken tap"},
			"zh": {"记住我的车停在B2", "请记一下门禁密码是4711", "帮我记下明天停水", "记下来备用钥匙在鞋柜里", "记个笔记：明天买牛奶", "把WiFi密码是hunter2记下来", "把妈妈生日是五月三号记住"},
		},
	}
}

func recall() Reflex {
	return Reflex{
		ID: "recall", Op: "recall", Args: "{what}", Owner: true,
		Templates: map[string][]string{
			"en": {"what did I (tell|say to) you about {what:text(80)}", "what did I say about {what:text(80)}",
				"what do you (remember|recall) about {what:text(80)}", "what have I (told you|said) about {what:text(80)}",
				"do you (remember|recall) (anything|something) about {what:text(80)}", "what do my notes say about {what:text(80)}",
				"(search|look in) my notes for {what:text(80)}", "did I (tell you|say) (anything|something) about {what:text(80)}"},
			"zh": {"我 [以前|之前] [跟你|和你|对你|给你] (说|讲|提) 过 [关于] {what:text(80)} 的 (什么|啥) [吗|呢]", "关于 {what:text(80)} 我 [以前|之前] [跟你|和你|对你] (说|讲|提) 过 (什么|啥|些什么) [吗|呢]",
				"我 [以前|之前] [跟你|和你|对你] (说|讲|提) 过 [关于] {what:text(80)} 什么 [吗|呢]",
				"我 [以前|之前] [跟你|和你|对你] (说|讲|提) 过 什么 关于 {what:text(80)} 的 [事|事情] [吗|呢]", "你 [还] 记得 关于 {what:text(80)} 的 (什么|啥|哪些事) [吗|呢]",
				"关于 {what:text(80)} 你 [还] 记得 (什么|些什么|多少) [吗|呢]", "(查|搜|搜索|查找) [一下] [我的] 笔记 [里|里的] {what:text(80)}"},
		},
		Except: map[string][]string{
			"en": {"what did I (tell you|say to you|say) about (it|that|this|them|him|her|you|yourself)",
				"what do you (remember|recall) about (it|that|this|them|him|her|you|yourself)"},
			"zh": {"我 [跟你|和你] 说过 [关于] (这个|那个|它|他|她|你) [的] 什么", "关于 (这个|那个|它|他|她|你) 我 [跟你|和你] 说过什么"},
		},
		Examples: map[string][]string{
			"en": {"what did I tell you about the boiler?", "What did I say about Anna", "what do you remember about my car?", "what have I told you about Tom",
				"do you remember anything about the gate code?", "what do my notes say about bins", "search my notes for wifi", "did I tell you anything about the rent?"},
			"zh": {"我跟你说过关于钥匙的什么", "关于钥匙我说过什么？", "我说过钥匙什么", "我说过什么关于钥匙的", "你还记得关于钥匙的什么", "关于钥匙你记得什么", "搜索笔记钥匙"},
		},
	}
}

func notes() Reflex {
	return Reflex{
		ID: "notes", Op: "notes", Owner: true,
		Templates: map[string][]string{
			"en": {"(list|show|read|see) [me] [all] [of] [my|the|your] notes", "[what are|what is in|what's in] [my] notes", "what (have|did) I (told|tell|asked|ask) you to remember",
				"what (notes do I|notes do you) have"},
			"zh": {"[请] (列出|显示|查看|看看|看) [一下] [我的|所有|全部|我的所有|我的全部] 笔记 [列表]", "[我的] [所有|全部] 笔记", "我 [都] 有 (哪些|什么) 笔记 [呢]", "笔记列表",
				"你 [都] (记住|记) 了 (什么|哪些|些什么) [呢]"},
		},
		Examples: map[string][]string{
			"en": {"list my notes", "my notes", "what did I ask you to remember?", "what notes do you have?"},
			"zh": {"列出笔记", "我的笔记", "我有哪些笔记", "笔记列表", "你记住了什么"},
		},
	}
}

func forget() Reflex {
	return Reflex{
		ID: "forget", Op: "forget", Args: "{n}", Owner: true,
		Templates: map[string][]string{
			"en": {"(delete|forget|remove|erase) [my|the] note [number] {n:number(1..9999)}"},
			"zh": {"(删除|删掉|删去|忘掉|忘记) [第] {n:number(1..9999)} (条|个|号) 笔记", "(删除|删掉|删去|忘掉|忘记) 笔记 [第] {n:number(1..9999)} [条|号]",
				"把 [第] {n:number(1..9999)} (条|号) 笔记 (删除|删掉|删了)", "把 笔记 {n:number(1..9999)} (删除|删掉|删了)"},
		},
		Examples: map[string][]string{
			"en": {"delete note 3", "forget note twenty five"},
			"zh": {"删除第三条笔记", "删除笔记3", "把第2条笔记删掉", "把笔记3删了"},
		},
	}
}
